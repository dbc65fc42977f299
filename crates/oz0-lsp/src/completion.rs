//! Completion in the manifest: keys and words from its schema, names from the manifest and from what its tools list.

use std::path::Path;

use oz0_lint::Plugin;
use oz0_listing::escape;
use oz0_plugin::manifest::MANIFEST;
use tower_lsp_server::ls_types::{
    CompletionItem, CompletionItemKind, CompletionResponse, CompletionTextEdit, Documentation,
    Position, TextEdit, Uri,
};

use crate::candidates::{Candidate, Known, Of, key_names, names};
use crate::cursor::{Cursor, Place};
use crate::documents::Documents;
use crate::schema::{Key, Spot, at};
use crate::session::Session;

/// What may be written at a place of a manifest.
pub(crate) fn completion(
    session: &Session,
    uri: &Uri,
    position: Position,
) -> Option<CompletionResponse> {
    let (documents, manner) = {
        let state = session.state();
        (state.documents.clone(), state.manner)
    };
    let (path, document) = documents.at(uri)?;
    let root = documents.plugin_of(&path).filter(|root| path == root.join(MANIFEST))?;
    let (text, lines) = document.text()?;
    let offset = lines.offset(text, position, manner.encoding);
    let cursor = Cursor::find(text, offset)?;
    let range = lines.range(text, cursor.word.clone(), manner.encoding);
    let items = proposals(&cursor, || known(&root, &documents));
    let items = items.into_iter().enumerate().map(|(index, proposal)| CompletionItem {
        label: proposal.label,
        kind: Some(proposal.kind),
        detail: proposal.detail,
        documentation: proposal.documentation.map(Documentation::String),
        // In the order in which they were proposed.
        sort_text: Some(format!("{index:05}")),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: proposal.text })),
        ..CompletionItem::default()
    });
    Some(CompletionResponse::Array(items.collect()))
}

fn known(root: &Path, documents: &Documents) -> Known {
    let plugin = Plugin::load_unsaved(root, &documents.unsaved(root));
    plugin.map(|plugin| Known::of(&plugin)).unwrap_or_default()
}

/// Something that may be written.
struct Proposal {
    label: String,
    text: String,
    kind: CompletionItemKind,
    detail: Option<String>,
    documentation: Option<String>,
}

fn proposals(cursor: &Cursor, known: impl Fn() -> Known) -> Vec<Proposal> {
    let spots = at(&cursor.path);
    match &cursor.place {
        Place::Key { others, in_flow, has_colon } => {
            let mut found = keys(&spots, cursor, known, *in_flow, *has_colon);
            found.retain(|proposal| !others.contains(&proposal.label));
            found
        }
        Place::Value { begins_line } => {
            let mut found = Vec::new();
            if *begins_line && spots.iter().any(|spot| spot.is_mapping()) {
                found.extend(keys(&spots, cursor, &known, false, false));
            }
            // A word that stands where a list belongs is none of the list's items.
            if spots.iter().any(|spot| spot.is_single()) {
                found.extend(spots.iter().flat_map(|spot| spot.words()).map(word_proposal));
                let known = known();
                let named = slots(&spots)
                    .flat_map(|slot| names(slot, &cursor.path, &cursor.root, &known).into_iter());
                found.extend(named.map(|it| name_proposal(it, cursor.quoted)));
            }
            found
        }
    }
}

/// The keys that may stand in the mapping where the cursor is: what a record must have first.
fn keys(
    spots: &[Spot<'static>],
    cursor: &Cursor,
    known: impl Fn() -> Known,
    in_flow: bool,
    has_colon: bool,
) -> Vec<Proposal> {
    let mut keys: Vec<Key<'_>> = spots.iter().flat_map(|spot| spot.keys()).collect();
    keys.sort_by_key(|key| (!key.required, key.name));
    let keys = keys.into_iter().map(|key| key_proposal(key, in_flow, has_colon));
    let known = known();
    let named = slots(spots).flat_map(|slot| key_names(slot, &cursor.path, &known).into_iter());
    let named = named.map(|it| {
        let mut proposal = name_proposal(it, cursor.quoted);
        if !has_colon {
            proposal.text.push(':');
        }
        proposal
    });
    keys.chain(named).collect()
}

/// The slots of some spots, each once.
fn slots(spots: &[Spot<'static>]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut each: Vec<(&str, &str)> = spots.iter().map(|spot| spot.slot).collect();
    each.dedup();
    each.into_iter()
}

fn word_proposal(word: &str) -> Proposal {
    Proposal {
        label: word.to_owned(),
        text: word.to_owned(),
        kind: CompletionItemKind::ENUM_MEMBER,
        detail: None,
        documentation: None,
    }
}

fn key_proposal(key: Key<'_>, in_flow: bool, has_colon: bool) -> Proposal {
    let behind = match (has_colon, key.nests && !in_flow) {
        (true, _) => "",
        (false, true) => ":",
        (false, false) => ": ",
    };
    Proposal {
        label: key.name.to_owned(),
        text: format!("{}{behind}", key.name),
        kind: CompletionItemKind::PROPERTY,
        detail: key.required.then(|| "required".to_owned()),
        documentation: (!key.description.is_empty()).then(|| key.description.to_owned()),
    }
}

/// A name of the plugin's. What a server says of a function is shown as the plain text that it is.
fn name_proposal(candidate: Candidate, quoted: bool) -> Proposal {
    let label = escape::line(&candidate.name).into_owned();
    // A plain scalar cannot begin with a sign that means something.
    let plain = candidate.name.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    let text = if quoted || plain {
        candidate.name
    } else {
        format!("'{}'", candidate.name.replace('\'', "''"))
    };
    Proposal {
        label,
        text,
        kind: match candidate.of {
            Of::Function => CompletionItemKind::FUNCTION,
            Of::Tool => CompletionItemKind::MODULE,
            Of::Part => CompletionItemKind::REFERENCE,
            Of::File => CompletionItemKind::FILE,
        },
        detail: None,
        documentation: candidate.description.map(|text| escape::text(&text).into_owned()),
    }
}
