//! The plugin's functions, as the measured listing and the snapshots of remote tools have them, with the manifest's
//! overrides merged as a node merges them.

use std::collections::{BTreeMap, BTreeSet};

use oz0_diagnostic::Span;
use oz0_listing::file::ListingFile;
use oz0_listing::json::Json;
use oz0_listing::{Function, FunctionId, ToolId};
use oz0_plugin::Spanned;
use oz0_plugin::manifest::{Manifest, Override, Tool};
use oz0_policy::{FunctionType, Hints};

use super::{Snapshot, View};

/// What is known of a function.
#[derive(Debug)]
pub(crate) struct Known {
    pub(super) id: FunctionId,
    /// The index of its tool in the manifest.
    pub(super) tool: usize,
    hints: Hints,
    output_schema: bool,
}

/// The known functions.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    known: BTreeMap<FunctionId, Known>,
    /// The functions of each tool, in their order.
    by_tool: BTreeMap<String, Vec<FunctionId>>,
    /// The tools that were listed, be it with nothing that can be called.
    tools: BTreeSet<String>,
}

impl Functions {
    pub(super) fn of(
        manifest: &Manifest,
        listing: Option<&ListingFile>,
        snapshots: &BTreeMap<&str, Snapshot>,
    ) -> Self {
        let mut functions = Self::default();
        let mut measured: BTreeMap<ToolId, Vec<&Function>> = BTreeMap::new();
        for function in listing.into_iter().flat_map(|listing| &listing.functions) {
            measured.entry(function.id.tool()).or_default().push(function);
        }
        let left_out: BTreeSet<&ToolId> = listing
            .iter()
            .flat_map(|listing| &listing.left_out)
            .map(|left_out| &left_out.tool)
            .collect();
        for (index, (key, tool)) in manifest.tools.iter().enumerate() {
            let id = &key.value;
            let listed: Vec<&Function> = if tool.is_remote() {
                match snapshots.get(id.as_str()) {
                    Some(Snapshot::Present(file)) => {
                        functions.tools.insert(id.to_string());
                        file.functions.iter().collect()
                    }
                    _ => Vec::new(),
                }
            } else {
                if left_out.contains(id) {
                    functions.tools.insert(id.to_string());
                }
                measured.get(id).cloned().unwrap_or_default()
            };
            if !listed.is_empty() {
                functions.tools.insert(id.to_string());
            }
            for function in listed {
                let of_tool = functions.by_tool.entry(id.to_string()).or_default();
                of_tool.push(function.id.clone());
                let over = tool.overrides.get(function.id.function());
                functions.known.insert(function.id.clone(), Known::of(function, index, over));
            }
        }
        functions
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }

    pub(super) fn get(&self, id: &FunctionId) -> Option<&Known> {
        self.known.get(id)
    }

    pub(super) fn of_tool(&self, tool: &ToolId) -> impl Iterator<Item = &Known> {
        self.by_tool.get(tool.as_str()).into_iter().flatten().filter_map(|id| self.known.get(id))
    }

    pub(super) fn knows(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }
}

impl Known {
    fn of(function: &Function, tool: usize, over: Option<&Spanned<Override>>) -> Self {
        let listing = function.listing.value();
        let annotations = listing.get("annotations");
        let hint =
            |name: &str| annotations.and_then(|hints| hints.get(name)).and_then(Json::as_bool);
        let mut hints = Hints {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            open_world: hint("openWorldHint"),
        };
        if let Some(said) = over.and_then(|over| over.annotations.as_ref()) {
            hints = hints.merged(Hints {
                read_only: said.read_only.as_ref().map(|hint| hint.value),
                destructive: said.destructive.as_ref().map(|hint| hint.value),
                open_world: said.open_world.as_ref().map(|hint| hint.value),
            });
        }
        let output_schema = listing.get("outputSchema").and_then(Json::as_object).is_some()
            || over.is_some_and(|over| over.output_schema.is_some());
        Self { id: function.id.clone(), tool, hints, output_schema }
    }
}

/// A function as rules see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'v> {
    view: &'v View<'v>,
    known: &'v Known,
    key: &'v Spanned<ToolId>,
    tool: &'v Spanned<Tool>,
}

impl<'v> Seen<'v> {
    pub(super) fn new(
        view: &'v View<'_>,
        known: &'v Known,
        key: &'v Spanned<ToolId>,
        tool: &'v Spanned<Tool>,
    ) -> Self {
        Self { view, known, key, tool }
    }

    pub(crate) fn id(&self) -> &'v str {
        self.known.id.as_str()
    }

    pub(crate) fn name(&self) -> &'v str {
        self.known.id.function()
    }

    pub(crate) fn tool(&self) -> &'v Tool {
        self.tool
    }

    pub(crate) fn hints(&self) -> Hints {
        self.known.hints
    }

    pub(crate) fn kind(&self) -> FunctionType {
        self.known.hints.function_type()
    }

    pub(crate) fn has_output_schema(&self) -> bool {
        self.known.output_schema
    }

    pub(crate) fn requires_approval(&self) -> bool {
        let mut required = self.tool.requires_approval.iter();
        required.any(|name| name.as_str() == self.name())
    }

    /// Where the manifest speaks of the function: its override, else its tool.
    pub(crate) fn span(&self) -> &'v Span {
        let mut overrides = self.tool.overrides.keys();
        let own = overrides.find(|key| key.value.as_ref() == self.name());
        own.map_or(&self.key.span, |key| &key.span)
    }

    /// Where the measured listing has it, for a measured tool.
    pub(crate) fn listed_at(&self) -> Option<Span> {
        let source = self.view.listing_source().filter(|_| !self.tool.is_remote())?;
        Some(super::find(source, &format!("\"{}\"", self.id())))
    }

    /// The function as a decision about its calls looks at it.
    pub(crate) fn policy(&self) -> oz0_policy::Function<'v> {
        use oz0_plugin::manifest::Approval as Said;
        use oz0_policy::Approval;

        oz0_policy::Function {
            tool: self.key.value.as_str(),
            name: self.name(),
            kind: self.kind(),
            requires_approval: self.requires_approval(),
            approval: match self.tool.approval() {
                Said::Never => Approval::Never,
                Said::Writes => Approval::Writes,
                Said::Always => Approval::Always,
            },
        }
    }
}
