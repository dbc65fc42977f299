//! Quick fixes, and all safe fixes of a file at once.
//!
//! An edit is offered only where every file that it changes is what it was when the finding was made, and it says of which
//! version of a document it is, so that an editor that went on refuses it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oz0_diagnostic::{Diagnostic, Fix, Safety};
use oz0_lint::Request;
use similar::{DiffTag, TextDiff};
use tower_lsp_server::ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit,
    TextEdit, Uri, WorkspaceEdit,
};

use crate::check::{Checked, mended};
use crate::documents::{Documents, relative};
use crate::place::Places;
use crate::session::{Manner, Session};
use crate::uri::uri_of;

/// Every safe fix of a file.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.oz0");

/// What stands in the editor when it asks, and what is known of it.
pub(crate) struct Scene {
    path: PathBuf,
    checked: Arc<Checked>,
    documents: Documents,
    manner: Manner,
    request: Request,
}

impl Scene {
    /// The document that is asked about; `None` where it is no plugin's, or is not the one that was checked.
    pub(crate) fn of(session: &Session, uri: &Uri) -> Option<Self> {
        let (documents, manner) = {
            let state = session.state();
            (state.documents.clone(), state.manner)
        };
        let (path, _) = documents.at(uri)?;
        let checked = session.checked(&path).filter(|it| it.is_of(&path, &documents))?;
        Some(Self { path, checked, documents, manner, request: session.request() })
    }

    /// What can be done at a place.
    pub(crate) fn actions(&self, params: &CodeActionParams) -> CodeActionResponse {
        let asked = |kind: &CodeActionKind| {
            params.context.only.as_ref().is_none_or(|only| {
                // A kind asks for those below it: `source` for `source.fixAll.oz0`.
                only.iter().any(|only| {
                    let rest = kind.as_str().strip_prefix(only.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                })
            })
        };
        let mut found = Vec::new();
        if asked(&CodeActionKind::QUICKFIX) {
            let mut places = Places::new(&self.checked.root, &self.documents, self.manner.encoding);
            for problem in self.checked.of_file(&self.path) {
                let range = places.range(problem.span.file(), problem.span.range());
                if touches(range, params.range) {
                    let fix = problem.fix.as_ref();
                    found.extend(fix.and_then(|fix| self.quick_fix(problem, fix)));
                }
            }
        }
        let is_safe = |problem: &Diagnostic| {
            problem.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe)
        };
        if asked(&FIX_ALL) && self.checked.of_file(&self.path).any(is_safe) {
            found.extend(self.fix_all());
        }
        found.into_iter().map(CodeActionOrCommand::CodeAction).collect()
    }

    fn quick_fix(&self, problem: &Diagnostic, fix: &Fix) -> Option<CodeAction> {
        let root = &self.checked.root;
        let mut places = Places::new(root, &self.documents, self.manner.encoding);
        let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
        for edit in &fix.edits {
            let path = places.path(&edit.file);
            if !self.is_as_checked(&path, edit.file.text()) {
                return None;
            }
            let range = places.range(&edit.file, edit.range.clone());
            let edit = TextEdit { range, new_text: edit.replacement.clone() };
            edits.entry(path).or_default().push(edit);
        }
        let safe = fix.safety == Safety::Safe;
        let title = oz0_listing::escape::line(&fix.title);
        Some(CodeAction {
            title: if safe {
                title.into_owned()
            } else {
                format!("{title} (may change what the plugin does)")
            },
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![places.diagnostic(problem)]),
            edit: Some(self.edit(edits)?),
            is_preferred: Some(safe),
            ..CodeAction::default()
        })
    }

    fn fix_all(&self) -> Option<CodeAction> {
        let (path, root) = (&self.path, &self.checked.root);
        let file = relative(path.strip_prefix(root).ok()?)?;
        let fixed = mended(root, &file, &self.documents, &self.request)?;
        let document = self.documents.get(path)?;
        let (text, lines) = document.text()?;
        let fixed = if document.shows_mark() {
            fixed.as_str()
        } else {
            fixed.strip_prefix('\u{feff}').unwrap_or(&fixed)
        };
        let edits = line_edits(text, fixed)
            .into_iter()
            .map(|(range, new_text)| TextEdit {
                range: lines.range(text, range, self.manner.encoding),
                new_text,
            })
            .collect();
        Some(CodeAction {
            title: "make all safe fixes of oz0 in this file".to_owned(),
            kind: Some(FIX_ALL),
            edit: Some(self.edit(BTreeMap::from([(path.clone(), edits)]))?),
            ..CodeAction::default()
        })
    }

    /// Whether a file is what it was when it was checked: its document, or where none is open what stands on the disk.
    fn is_as_checked(&self, path: &Path, text: &str) -> bool {
        self.checked.is_of(path, &self.documents)
            && (self.documents.get(path).is_some()
                || fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes()))
    }

    fn edit(&self, edits: BTreeMap<PathBuf, Vec<TextEdit>>) -> Option<WorkspaceEdit> {
        let mut files: Vec<(Uri, Option<i32>, Vec<TextEdit>)> = Vec::new();
        for (path, edits) in edits {
            let (uri, version) = match self.documents.get(&path) {
                Some(document) => (document.uri.clone(), Some(document.version)),
                None => (uri_of(&path)?, None),
            };
            files.push((uri, version, edits));
        }
        if !self.manner.versioned_edits {
            let changes: HashMap<Uri, Vec<TextEdit>> =
                files.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
            return Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
        }
        let edits = files.into_iter().map(|(uri, version, edits)| TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(OneOf::Left).collect(),
        });
        let changes = DocumentChanges::Edits(edits.collect());
        Some(WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() })
    }
}

/// Whether two ranges have a place in common; one that ends where the other begins does.
fn touches(left: Range, right: Range) -> bool {
    left.start <= right.end && right.start <= left.end
}

/// What changes from one text to another, line by line, in bytes of the first.
fn line_edits(before: &str, after: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let old_lines: Vec<&str> = before.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = after.split_inclusive('\n').collect();
    let starts = |lines: &[&str]| {
        let ends = lines.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        });
        std::iter::once(0).chain(ends).collect::<Vec<usize>>()
    };
    let (old, new) = (starts(&old_lines), starts(&new_lines));
    let diff = TextDiff::from_slices(&old_lines, &new_lines);
    let changes = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changes
        .map(|op| {
            let (from, to) = (op.old_range(), op.new_range());
            (old[from.start]..old[from.end], after[new[to.start]..new[to.end]].to_owned())
        })
        .collect()
}
