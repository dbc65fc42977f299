//! A change as the person sees it who decides: nothing of what moved is left out.

use oz0_api::change::{Change, ChangeKind};
use oz0_listing::FunctionId;
use oz0_listing::diff::{Passage, PieceKind};
use oz0_listing::escape;

use crate::text::{Piece, legend, pieces};
use crate::time::{Moment, moment};

/// A change to be read.
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) short: String,
    /// The function, or the tool whose endpoint moved.
    pub(crate) subject: String,
    /// The function's page.
    pub(crate) href: Option<String>,
    pub(crate) what: &'static str,
    pub(crate) kind: &'static str,
    /// Which of several listings of one function it is, where nodes differ.
    pub(crate) of_several: Option<String>,
    pub(crate) labels: Vec<Label>,
    pub(crate) nodes: Vec<(String, Moment)>,
    pub(crate) moved: Option<Move>,
    pub(crate) parts: Vec<Part>,
    /// The invisible characters in it.
    pub(crate) legend: Vec<(String, String)>,
    /// Why there is nothing to read, where there is nothing.
    pub(crate) nothing: Option<&'static str>,
    /// Whether somebody tried to approve it while it was something else.
    pub(crate) anew: bool,
}

/// What a change amounts to.
pub(crate) struct Label {
    pub(crate) text: Vec<Piece>,
    pub(crate) alarms: bool,
}

/// An endpoint that moved.
pub(crate) struct Move {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) note: String,
}

/// The places of one part of a listing.
pub(crate) struct Part {
    pub(crate) title: &'static str,
    pub(crate) places: Vec<Place>,
}

/// A place that changed.
pub(crate) struct Place {
    pub(crate) name: Vec<Piece>,
    /// Both texts as one, with what went and came; else each by itself.
    pub(crate) words: Option<Vec<Run>>,
    pub(crate) old: Option<Vec<Piece>>,
    pub(crate) new: Option<Vec<Piece>>,
}

/// A run of words with one fate.
pub(crate) struct Run {
    pub(crate) kind: Fate,
    pub(crate) text: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Same,
    Removed,
    Added,
}

/// The parts of a listing, by the member that they are in.
const PARTS: [(&str, &str); 4] = [
    ("inputSchema", "Parameters"),
    ("outputSchema", "Output"),
    ("annotations", "Hints"),
    ("", "What it says of itself"),
];

/// Changes as they are shown; those of `anew` were to be approved as something else.
pub(crate) fn shown(changes: &[Change], anew: &[String]) -> Vec<Shown> {
    let one = |change: &Change| {
        let others: Vec<&Change> = changes
            .iter()
            .filter(|other| other.function.is_some() && other.function == change.function)
            .filter(|other| other.version == change.version)
            .collect();
        let place = others.iter().position(|other| other.id == change.id);
        let of_several = place
            .filter(|_| others.len() > 1)
            .map(|place| format!("listing {} of {}", place + 1, others.len()));
        show(change, of_several, anew)
    };
    changes.iter().map(one).collect()
}

fn show(change: &Change, of_several: Option<String>, anew: &[String]) -> Shown {
    let passages = change.passages();
    let nothing = match &passages {
        Err(_) => {
            Some("The edge holds a listing here that cannot be read, so nothing can be approved.")
        }
        Ok(passages) if passages.is_empty() && change.kind != ChangeKind::Endpoint => {
            Some("The edge keeps neither what was approved nor what is listed.")
        }
        Ok(_) => None,
    };
    let passages = passages.unwrap_or_default();
    let texts = passages.iter().flat_map(|passage| {
        let words = passage.words.iter().flat_map(|words| &words.pieces);
        let words = words.map(|piece| piece.text.as_str());
        words.chain(passage.old.as_deref()).chain(passage.new.as_deref())
    });
    let labels = change.labels.iter().filter(|_| change.kind != ChangeKind::Endpoint);
    let subject = change.subject();
    Shown {
        id: change.id.to_string(),
        short: change.id.short().to_owned(),
        href: change.function.as_ref().map(|function| format!("/tools/{function}")),
        what: change.what(),
        kind: change.kind.as_str(),
        of_several,
        labels: labels
            .map(|label| Label {
                text: pieces(&escape::line(label)),
                alarms: label.starts_with("hidden characters"),
            })
            .collect(),
        nodes: change
            .nodes
            .iter()
            .map(|seen| (seen.node.to_string(), moment(seen.since)))
            .collect(),
        moved: moved(change),
        legend: legend(texts),
        parts: parts(&passages),
        nothing,
        anew: anew.contains(&subject),
        subject,
    }
}

fn moved(change: &Change) -> Option<Move> {
    let (old, new) = change.endpoints()?;
    // An endpoint that nobody approved gets no token, so this may not be all that it lists to one that has it.
    let note = match &change.functions[..] {
        [] if change.nodes.is_empty() => {
            "No node has listed it there yet. Nothing of it is called until it is approved."
                .to_owned()
        }
        [] => "No node could list it there without its token.".to_owned(),
        listed => {
            let names: Vec<&str> = listed.iter().map(FunctionId::as_str).collect();
            format!("It lists there, to one without its token: {}.", names.join(", "))
        }
    };
    let old = old.map_or("nowhere", |old| old.as_str()).to_owned();
    Some(Move { old, new: new.to_string(), note })
}

fn parts(passages: &[Passage]) -> Vec<Part> {
    let mut parts: Vec<Part> =
        PARTS.iter().map(|(_, title)| Part { title, places: Vec::new() }).collect();
    for passage in passages {
        let pointer = passage.pointer.to_string();
        let mut steps = pointer.split('/').skip(1);
        let member = steps.next().unwrap_or_default();
        let at = PARTS.iter().position(|(of, _)| *of == member).unwrap_or(PARTS.len() - 1);
        if let Some(part) = parts.get_mut(at) {
            part.places.push(place(passage, member, steps));
        }
    }
    // What it says of itself is read first.
    parts.rotate_right(1);
    parts.retain(|part| !part.places.is_empty());
    parts
}

/// A place's name, without the words that every schema has: `x › type` for `/inputSchema/properties/x/type`.
fn place<'a>(passage: &Passage, member: &str, steps: impl Iterator<Item = &'a str>) -> Place {
    let mut names: Vec<String> = Vec::new();
    let mut is_name = false;
    for step in steps {
        let step = step.replace("~1", "/").replace("~0", "~");
        // The step behind `properties` is a parameter's name, even one that is called `properties`.
        if step == "properties" && !is_name {
            is_name = true;
            continue;
        }
        is_name = false;
        names.push(step);
    }
    if names.is_empty() {
        names.push(match member {
            "" => "the whole listing".to_owned(),
            "inputSchema" | "outputSchema" => "the whole schema".to_owned(),
            "annotations" => "all of them".to_owned(),
            member => member.to_owned(),
        });
    }
    let name = escape::line(&names.join(" › ")).into_owned();
    let side = |text: &Option<String>| text.as_deref().map(pieces);
    let words = passage.words.as_ref().map(|words| {
        let runs = words.pieces.iter().map(|piece| {
            let kind = match piece.kind {
                PieceKind::Same => Fate::Same,
                PieceKind::Removed => Fate::Removed,
                PieceKind::Added => Fate::Added,
            };
            // A line break that went or came would show as nothing.
            let text = match kind {
                Fate::Same => pieces(&piece.text),
                _ => pieces(&piece.text.replace('\n', "↵\n")),
            };
            Run { kind, text }
        });
        runs.collect()
    });
    Place { name: pieces(&name), words, old: side(&passage.old), new: side(&passage.new) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(pointer: &str) -> String {
        let passage =
            Passage { pointer: pointer.parse().unwrap(), old: None, new: None, words: None };
        let parts = parts(&[passage]);
        let place = &parts[0].places[0];
        let name: String = place.name.iter().map(|piece| piece.text.as_str()).collect();
        format!("{}: {name}", parts[0].title)
    }

    #[test]
    fn a_place_is_named_as_people_name_it() {
        assert_eq!(name("/description"), "What it says of itself: description");
        assert_eq!(name("/inputSchema/properties/x/type"), "Parameters: x › type");
        assert_eq!(
            name("/inputSchema/properties/properties/enum"),
            "Parameters: properties › enum"
        );
        assert_eq!(name("/inputSchema"), "Parameters: the whole schema");
        assert_eq!(name("/annotations/readOnlyHint"), "Hints: readOnlyHint");
        assert_eq!(name("/inputSchema/properties/a~1b"), "Parameters: a/b");
    }
}
