//! The block of comments that says what a script needs (PEP 723): `uv run` and `pipx run` install it.

use std::ops::Range;

use ruff_python_ast::script::ScriptTag;
use ruff_text_size::{TextRange, TextSize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::How;

/// A string of the block's list of requirements.
#[derive(Debug)]
pub(crate) struct Requirement {
    /// The list that it is of.
    pub(crate) list: String,
    pub(crate) how: How,
    pub(crate) text: String,
    /// Its literal in the source, with the quotes.
    literal: Range<usize>,
    /// Whether the source holds it letter by letter between them.
    exact: bool,
}

impl Requirement {
    /// Where a part of the text stands in the source.
    pub(crate) fn source(&self, part: &Range<usize>) -> Range<usize> {
        if self.exact {
            let quote = (self.literal.len() - self.text.len()) / 2;
            let start = self.literal.start + quote;
            start + part.start..start + part.end
        } else {
            self.literal.clone()
        }
    }
}

/// The block does not say what its reader needs to know.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) place: Range<usize>,
    pub(crate) problem: String,
}

/// The requirements of the block that a source holds: none, if it has no block.
pub(crate) fn requirements(text: &str) -> Result<Vec<Requirement>, Unreadable> {
    let Some(tag) = ScriptTag::parse(text.as_bytes()) else { return Ok(Vec::new()) };
    let toml = tag.metadata();
    let place = |range: Range<usize>| {
        let size = |at: usize| TextSize::try_from(at.min(toml.len())).unwrap_or_default();
        let range = tag.source_map().map_range(TextRange::new(size(range.start), size(range.end)));
        range.start().to_usize()..range.end().to_usize()
    };
    let table = DeTable::parse(toml).map_err(|error| Unreadable {
        place: place(error.span().unwrap_or(0..0)),
        problem: format!("holds a script block (PEP 723) that is no TOML: {}", error.message()),
    })?;
    let read = |list: &str, how: How, item: &Spanned<DeValue<'_>>| {
        let DeValue::String(requirement) = item.get_ref() else {
            let problem =
                format!("holds a script block (PEP 723) whose {list} are no list of strings");
            return Err(Unreadable { place: place(item.span()), problem });
        };
        let literal = place(item.span());
        let exact = text
            .get(literal.clone())
            .is_some_and(|literal| literal.trim_matches(['"', '\'']) == requirement);
        Ok(Requirement {
            list: list.to_owned(),
            how,
            text: requirement.to_string(),
            literal,
            exact,
        })
    };
    let mut found = Vec::new();
    let mut of = |list: &str, how: How, value: Option<&Spanned<DeValue<'_>>>| {
        match value.map(|value| (value, value.get_ref())) {
            None => {}
            Some((_, DeValue::Array(items))) => {
                for item in items {
                    // uv takes a table too, with what else is said of the requirement.
                    let table =
                        item.get_ref().as_table().and_then(|table| table.get("requirement"));
                    found.push(read(list, how, table.unwrap_or(item))?);
                }
            }
            Some((value, _)) => found.push(read(list, how, value).and_then(|one| {
                let problem =
                    format!("holds a script block (PEP 723) whose {list} are no list of strings");
                Err(Unreadable { place: one.literal, problem })
            })?),
        }
        Ok(())
    };
    of("dependencies", How::Direct, table.get_ref().get("dependencies"))?;
    let tools = table.get_ref().get("tool").and_then(|tool| tool.get_ref().as_table());
    let Some(uv) = tools.and_then(|tool| tool.get("uv")).and_then(|uv| uv.get_ref().as_table())
    else {
        return Ok(found);
    };
    for list in
        ["override-dependencies", "constraint-dependencies", "build-constraint-dependencies"]
    {
        of(list, How::Constraint, uv.get(list))?;
    }
    let sources = uv.get("sources").and_then(|sources| sources.get_ref().as_table());
    for (name, source) in sources.into_iter().flatten() {
        let asked = found.iter().any(|one| {
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            let asked = one.text.trim_start();
            let asked = &asked[..asked.find(|c| !letters(c)).unwrap_or(asked.len())];
            let folded = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
            folded(asked) == folded(name.get_ref())
        });
        let source = source.get_ref().as_table();
        for key in ["git", "url"] {
            if let Some(address) = source.and_then(|source| source.get(key)).filter(|_| asked) {
                found.push(read("tool.uv.sources", How::Direct, address)?);
            }
        }
    }
    Ok(found)
}
