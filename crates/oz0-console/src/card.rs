//! A call's result as cards: each member by its name, lists as tables where they are such, and texts as texts.

use std::fmt::Write as _;

use askama::Template;
use oz0_listing::escape;
use oz0_listing::json::Json;

use crate::schema::{items, resolved};
use crate::text::{Piece, pieces};

/// How deep cards in cards are drawn; what is deeper is shown as JSON.
const DEPTH: usize = 6;

/// Items of a list, members of an object, and rows of a table, at most.
const ITEMS: usize = 200;

/// Columns of a table, at most.
const COLUMNS: usize = 8;

/// A value as it is drawn.
#[derive(Template)]
#[template(path = "card.html")]
pub(crate) struct Card {
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Text(Vec<Piece>),
    /// Text of several lines, or JSON.
    Block(Vec<Piece>),
    Members(Vec<Member>),
    List(Vec<Card>, usize),
    Table {
        heads: Vec<Vec<Piece>>,
        rows: Vec<Vec<Card>>,
        more: usize,
    },
    Nothing(&'static str),
}

pub(crate) struct Member {
    pub(crate) name: Vec<Piece>,
    pub(crate) about: Option<Vec<Piece>>,
    pub(crate) value: Card,
}

/// Draws a value, in the words of its schema where there is one.
pub(crate) fn card(value: &Json, schema: Option<&Json>) -> Card {
    draw(value, schema, schema, 0)
}

fn draw(value: &Json, schema: Option<&Json>, root: Option<&Json>, depth: usize) -> Card {
    let schema = schema.zip(root).map(|(schema, root)| resolved(root, schema));
    let shape = match value {
        Json::Object(members) if members.is_empty() => Shape::Nothing("nothing"),
        Json::Array(all) if all.is_empty() => Shape::Nothing("none"),
        Json::Object(_) | Json::Array(_) if depth >= DEPTH => Shape::Block(pieces(&value.pretty())),
        Json::Object(members) => {
            let member = |(name, value): (&str, &Json)| {
                let own = schema.and_then(|schema| schema.get("properties")?.get(name));
                let own = own.zip(root).map(|(own, root)| resolved(root, own));
                Member {
                    name: named(own, name),
                    about: own
                        .and_then(|own| own.get("description")?.as_str())
                        .map(|about| pieces(&escape::line_within(about, 300))),
                    value: draw(value, own, root, depth + 1),
                }
            };
            Shape::Members(members.iter().take(ITEMS).map(member).collect())
        }
        Json::Array(all) => {
            let own = schema.and_then(items);
            match table(all, own, root, depth) {
                Some(table) => table,
                None => {
                    let cards =
                        all.iter().take(ITEMS).map(|one| draw(one, own, root, depth + 1)).collect();
                    Shape::List(cards, all.len().saturating_sub(ITEMS))
                }
            }
        }
        Json::String(text) if text.is_empty() => Shape::Nothing("empty"),
        Json::String(text) if text.contains('\n') || text.len() > 200 => Shape::Block(pieces(text)),
        Json::String(text) => Shape::Text(pieces(text)),
        other => Shape::Text(pieces(&other.canonical())),
    };
    Card { shape }
}

/// A member's title, else its name.
fn named(schema: Option<&Json>, name: &str) -> Vec<Piece> {
    let title = schema.and_then(|schema| schema.get("title")?.as_str());
    pieces(&escape::line_within(title.unwrap_or(name), 120))
}

/// A list of objects with the same few members, all of them plain, is a table.
fn table(all: &[Json], items: Option<&Json>, root: Option<&Json>, depth: usize) -> Option<Shape> {
    let first = all.first()?.as_object()?;
    let names: Vec<&str> = first.names().collect();
    let plain = |value: &Json| match value {
        Json::String(text) => text.len() <= 200 && !text.contains('\n'),
        Json::Object(_) | Json::Array(_) => false,
        _ => true,
    };
    let alike = |one: &Json| {
        one.as_object().is_some_and(|members| {
            members.names().eq(names.iter().copied())
                && members.iter().all(|(_, value)| plain(value))
        })
    };
    if names.is_empty() || names.len() > COLUMNS || all.len() < 2 || !all.iter().all(alike) {
        return None;
    }
    let items = items.zip(root).map(|(items, root)| resolved(root, items));
    let heads = names.iter().map(|name| {
        let own = items.and_then(|items| items.get("properties")?.get(name));
        named(own.zip(root).map(|(own, root)| resolved(root, own)), name)
    });
    let rows = all.iter().take(ITEMS).map(|one| {
        let members = one.as_object().into_iter().flat_map(oz0_listing::json::Object::iter);
        members.map(|(_, value)| draw(value, None, None, depth + 1)).collect()
    });
    Some(Shape::Table {
        heads: heads.collect(),
        rows: rows.collect(),
        more: all.len().saturating_sub(ITEMS),
    })
}

/// What a server answered to a call.
pub(crate) struct Answered {
    pub(crate) failed: bool,
    /// Its structured content, where it has one.
    pub(crate) structured: Option<Card>,
    pub(crate) parts: Vec<Content>,
    /// All of it, as it came, for whoever wants to see that.
    pub(crate) raw: Vec<Piece>,
}

/// One part of a result's content.
pub(crate) enum Content {
    Text(Vec<Piece>),
    /// Something that is named, and not opened.
    Named(Vec<Piece>),
}

/// How much of a result is drawn, in bytes.
const RAW: usize = 256 * 1024;

/// Reads a `CallToolResult`, in the words of its function's output schema.
pub(crate) fn answered(raw: &str, schema: Option<&Json>) -> Answered {
    let Ok(json) = oz0_listing::json::parse(raw) else {
        // Two members of one name, say: what two readers read differently is shown as it stands.
        let (text, _) = cut(raw);
        return Answered { failed: false, structured: None, parts: Vec::new(), raw: pieces(text) };
    };
    let structured = json.get("structuredContent").map(|value| card(value, schema));
    let content = json.get("content").and_then(Json::as_array).unwrap_or_default();
    let parts = content.iter().take(ITEMS).map(|part| {
        let text = |member: &str| part.get(member).and_then(Json::as_str);
        match (text("type"), text("text")) {
            (Some("text"), Some(text)) => Content::Text(pieces(cut(text).0)),
            (kind, _) => {
                let inner = part.get("resource");
                let inner = |member: &str| inner.and_then(|inner| inner.get(member)?.as_str());
                let name = text("uri").or_else(|| inner("uri")).or_else(|| text("name"));
                let media = text("mimeType").or_else(|| inner("mimeType"));
                let said = [kind, name, media].into_iter().flatten();
                let said = said.map(|word| escape::line_within(word, 300).into_owned());
                Content::Named(pieces(&said.collect::<Vec<_>>().join(", ")))
            }
        }
    });
    let pretty = json.pretty();
    let (text, more) = cut(&pretty);
    let mut shown = text.to_owned();
    if more > 0 {
        let _ = write!(shown, "\n[… {more} bytes more …]");
    }
    Answered {
        failed: json.get("isError").and_then(Json::as_bool) == Some(true),
        parts: parts.collect(),
        structured,
        raw: pieces(&shown),
    }
}

/// The start of a text, and how much of it is not shown.
fn cut(text: &str) -> (&str, usize) {
    let end = text.floor_char_boundary(RAW);
    (&text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(value: &str, schema: Option<&str>) -> String {
        let read = |text: &str| oz0_listing::json::parse(text).unwrap();
        let schema = schema.map(read);
        card(&read(value), schema.as_ref()).render().unwrap()
    }

    #[test]
    fn what_a_server_answers_is_text_on_a_page() {
        let html = html(r#"{"<b>":"<script>alert(1)</script>","x":"a\u200bb"}"#, None);
        assert!(!html.contains("<script>") && !html.contains("<b>"), "{html}");
        assert!(html.contains("\\u{200B}"), "{html}");
    }

    #[test]
    fn members_are_named_by_the_schema_and_lists_of_alike_objects_are_tables() {
        let schema = r#"{"properties":{"t":{"title":"Temperature"},"all":{"items":{"properties":{"n":{"title":"Name"}}}}}}"#;
        let html = html(r#"{"t":21.5,"all":[{"n":"a"},{"n":"b"}]}"#, Some(schema));
        assert!(html.contains("Temperature") && html.contains("21.5"), "{html}");
        assert!(html.contains("<table") && html.contains("Name"), "{html}");
    }

    #[test]
    fn a_result_that_reads_in_two_ways_is_shown_as_it_stands() {
        let answered = answered(r#"{"content":[],"content":[1]}"#, None);
        assert_eq!(answered.raw[0].text, r#"{"content":[],"content":[1]}"#);
        let answered =
            super::answered(r#"{"content":[{"type":"text","text":"hi"}],"isError":true}"#, None);
        assert!(answered.failed && answered.parts.len() == 1);
    }
}
