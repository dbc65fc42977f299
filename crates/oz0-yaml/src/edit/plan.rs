//! Ways to make a change, the nicest first. None is trusted: the caller takes the first one that
//! gives the wanted value.

use super::layout::{Item, Layout, column, items};
use super::write::{SHORT, behind_colon, behind_dash, entry, inline, item, literal, wants_lines};
use super::{Change, EditError, PathStep, Shown, Splices};
use crate::data::Data;
use crate::node::{Node, Style, Value};
use crate::place::{after_break, first_on_line, line_end, line_start, skip_space};
use crate::scalar::Quoting;

pub(super) fn candidates(
    text: &str,
    root: &Node,
    change: &Change<'_>,
) -> Result<Vec<Splices>, EditError> {
    let place = Place::find(text, root, change.path())?;
    let layout = Layout::of(text, root);
    let target = place.target;
    if !matches!(change, Change::Remove { .. }) {
        place.refuse_anchor(change.path())?;
    }
    if matches!(change, Change::Insert { .. } | Change::Push { .. }) && target.anchored.is_some() {
        return Err(EditError::Alias { path: Shown(change.path()).to_string() });
    }
    let plan = Plan { text, layout, place };
    Ok(match change {
        Change::Replace { value, .. } => plan.replace(value),
        Change::Insert { key, value, .. } => plan.add(Some(key), value),
        Change::Push { value, .. } => plan.add(None, value),
        Change::Remove { .. } => plan.remove(),
    })
}

/// Where a path leads.
struct Place<'t> {
    target: &'t Node,
    /// The collection that holds it, and its index there.
    parent: Option<(&'t Node, usize)>,
    /// The parent's own entry in the collection around it.
    parent_item: Option<Item>,
    /// The target's entry.
    item: Option<Item>,
}

impl<'t> Place<'t> {
    fn find(text: &str, root: &'t Node, path: &[PathStep<'_>]) -> Result<Self, EditError> {
        let mut place = Self { target: root, parent: None, parent_item: None, item: None };
        for (length, step) in path.iter().enumerate() {
            let node = place.target;
            let shown = |path: &[PathStep<'_>]| Shown(path).to_string();
            if node.anchored.is_some() {
                return Err(EditError::Alias { path: shown(&path[..length]) });
            }
            place.refuse_anchor(path)?;
            let found = node.step(step).and_then(|next| Some((next, node.index(step)?)));
            let Some((next, index)) = found else {
                return Err(EditError::Missing { path: shown(path) });
            };
            let item = items(text, node).into_iter().nth(index);
            place =
                Self { target: next, parent: Some((node, index)), parent_item: place.item, item };
        }
        Ok(place)
    }

    fn refuse_anchor(&self, path: &[PathStep<'_>]) -> Result<(), EditError> {
        if self.target.anchor {
            return Err(EditError::Anchor { path: Shown(path).to_string() });
        }
        Ok(())
    }
}

struct Plan<'t> {
    text: &'t str,
    layout: Layout,
    place: Place<'t>,
}

impl Plan<'_> {
    fn replace(&self, value: &Data) -> Vec<Splices> {
        let (text, target) = (self.text, self.place.target);
        let mut ways = Vec::new();
        let scalar = value.levels() == 0;
        let quoting = match target.style {
            Style::SingleQuoted => Quoting::Single,
            Style::DoubleQuoted => Quoting::Double,
            _ => Quoting::Free,
        };
        if matches!(target.style, Style::Literal | Style::Folded) && target.anchored.is_none() {
            if let Data::String(new) = value
                && new.contains('\n')
            {
                let body = line_start(text, target.range.end);
                let indent = column(text, body + crate::place::indentation(text, body));
                if let Some((header, lines)) = literal(new, indent.max(1), self.layout.line_break) {
                    ways.extend(self.block_scalar(&header, &lines));
                }
            }
            ways.extend(self.block_scalar(&inline(value, quoting), ""));
            return ways;
        }
        // What was written in brackets stays in them while that is readable.
        let brackets = target.style == Style::Flow
            && target.range.len() > "{}".len()
            && inline(value, Quoting::Free).len() <= SHORT;
        let in_block = self.place.parent.is_none_or(|(parent, _)| parent.style == Style::Block);
        if in_block && !brackets && (wants_lines(value) || target.style == Style::Block) {
            ways.extend(self.replace_lines(value));
        }
        let written = inline(value, if scalar { quoting } else { Quoting::Free });
        if in_block {
            ways.extend(lift(text, target, self.place.item.as_ref(), &written));
        }
        let range = target.outer.start.min(target.range.start)..target.range.end;
        let before = text[..range.start].chars().next_back();
        let spaced = match before {
            // A value that is not written stands right behind its indicator.
            _ if target.style != Style::Absent || !range.is_empty() => written,
            Some(':' | '-') => format!(" {written}"),
            Some(' ' | '\t' | '\n' | '\r') | None => written,
            Some(_) => format!(": {written}"),
        };
        ways.push(vec![(range, spaced)]);
        ways
    }

    /// Puts another value in the place of a block scalar; its header's comment stays.
    fn block_scalar(&self, header: &str, lines: &str) -> Vec<Splices> {
        let (text, target) = (self.text, self.place.target);
        let start = target.range.start;
        let indicators = text[start..]
            .find(|c: char| !matches!(c, '|' | '>' | '+' | '-' | '0'..='9'))
            .map_or(text.len(), |length| start + length);
        let head = target.outer.start.min(start)..indicators;
        let header_end = line_end(text, indicators);
        let with = |end: usize| -> Splices {
            let body = header_end..end.max(header_end);
            vec![(head.clone(), header.to_owned()), (body, lines.to_owned())]
        };
        // The second takes blank lines behind it too.
        let outer = text[..target.outer.end].trim_end_matches(['\n', '\r']).len();
        let whole =
            target.outer.end.saturating_sub(usize::from(text[..target.outer.end].ends_with('\n')));
        vec![with(target.range.end), with(outer), with(whole.max(outer))]
    }

    /// Puts a value behind its indicator, on lines of its own if it wants them.
    fn replace_lines(&self, value: &Data) -> Option<Splices> {
        let (text, target) = (self.text, self.place.target);
        let start = target.outer.start.min(target.range.start);
        let Some((parent, _)) = self.place.parent else {
            let lines = super::write::block(value, column(text, start), &self.layout);
            let lines = if wants_lines(value) { lines } else { inline(value, Quoting::Free) };
            return Some(vec![(start..target.range.end, lines)]);
        };
        let lead = self.place.item.as_ref()?.lead?;
        let blank =
            |from: usize, to: usize| text.get(from..to).is_some_and(|t| t.trim().is_empty());
        if !blank(lead, start) {
            return None;
        }
        let at = column(text, parent.range.start);
        let mapping = matches!(parent.value, Value::Mapping(_));
        let written = if mapping {
            behind_colon(value, at, &self.layout)
        } else {
            behind_dash(value, at, &self.layout)
        };
        let end = line_end(text, target.range.end);
        let commented = !blank(target.range.end, end);
        if !commented || !wants_lines(value) {
            return Some(vec![(lead..target.range.end, written)]);
        }
        // The comment stays on the key's line, and the lines go below it.
        (mapping && target.style != Style::Block)
            .then(|| vec![(lead..target.range.end, String::new()), (end..end, written)])
    }

    /// Adds an entry or an item at the end of the target.
    fn add(&self, key: Option<&str>, value: &Data) -> Vec<Splices> {
        let (text, target) = (self.text, self.place.target);
        let key = key.map(Data::from);
        let last = items(text, target).into_iter().next_back();
        if target.style == Style::Block {
            let Some(last) = last else { return Vec::new() };
            let at = column(text, target.range.start);
            let lines = match &key {
                Some(key) => entry(key, value, at, &self.layout),
                None => item(value, at, &self.layout),
            };
            return self.add_lines(&last, at, &lines);
        }
        let written = match &key {
            Some(key) => {
                format!("{}: {}", inline(key, Quoting::Free), inline(value, Quoting::Free))
            }
            None => inline(value, Quoting::Free),
        };
        let Some(last) = last else {
            let inside = target.range.start + 1;
            let closes = text[inside..].starts_with(['}', ']', ' ', '\t', '\n', '\r']);
            let spaced = if closes { written.clone() } else { format!("{written} ") };
            return vec![
                // Blanks in the empty brackets go; a comment there does not.
                vec![(inside..target.range.end.saturating_sub(1).max(inside), written)],
                vec![(inside..inside, spaced)],
            ];
        };
        let end = last.range.end;
        let mut ways = Vec::new();
        if first_on_line(text, last.range.start)
            && line_start(text, last.range.start) > target.range.start
        {
            let indent = " ".repeat(column(text, last.range.start));
            let line_break = self.layout.line_break;
            ways.push(vec![(end..end, format!(",{line_break}{indent}{written}"))]);
        }
        ways.push(vec![(end..end, format!(", {written}"))]);
        ways
    }

    fn add_lines(&self, last: &Item, at: usize, lines: &str) -> Vec<Splices> {
        let text = self.text;
        let indent = " ".repeat(at);
        let line_break = self.layout.line_break;
        let end = line_end(text, last.range.end);
        let mut ways = vec![vec![(end..end, format!("{line_break}{indent}{lines}"))]];
        // Behind the blank lines that belong to a block scalar.
        let outer = last.outer_end;
        if outer > end {
            ways.push(if text[..outer].ends_with(['\n', '\r']) {
                vec![(outer..outer, format!("{indent}{lines}{line_break}"))]
            } else {
                vec![(outer..outer, format!("{line_break}{indent}{lines}"))]
            });
        }
        ways
    }

    fn remove(&self) -> Vec<Splices> {
        let (Some((parent, index)), Some(item)) = (self.place.parent, &self.place.item) else {
            return Vec::new();
        };
        let all = items(self.text, parent);
        match (parent.style, all.len()) {
            (Style::Block, 1) => self.remove_only(parent),
            (Style::Block, _) => self.remove_lines(item, all.get(index + 1)),
            (_, 1) => self.remove_only_flow(parent, item),
            _ => self.remove_flow(
                item,
                index.checked_sub(1).and_then(|i| all.get(i)),
                all.get(index + 1),
            ),
        }
    }

    /// The only entry of a block collection: what is left is empty, and has to be written in flow style.
    fn remove_only(&self, parent: &Node) -> Vec<Splices> {
        let text = self.text;
        let empty = if matches!(parent.value, Value::Mapping(_)) { "{}" } else { "[]" };
        let start = parent.range.start;
        let end = line_end(text, parent.range.end);
        let mut ways = Vec::new();
        let lead = self.place.parent_item.as_ref().and_then(|item| item.lead);
        if let Some(lead) = lead.filter(|lead| text[*lead..start].trim().is_empty()) {
            ways.push(vec![(lead..end, format!(" {empty}"))]);
        }
        ways.extend(lift(text, parent, self.place.parent_item.as_ref(), empty));
        ways.push(vec![(start..end, empty.to_owned())]);
        ways
    }

    fn remove_only_flow(&self, parent: &Node, item: &Item) -> Vec<Splices> {
        let text = self.text;
        let inside = parent.range.start + 1..parent.range.end.saturating_sub(1);
        let comma = skip_space(text, item.range.end, |_| false);
        let end = if text[comma..].starts_with(',') { comma + 1 } else { item.range.end };
        let mut ways = Vec::new();
        if !text[item.range.end..inside.end].contains('#')
            && !text[inside.start..item.range.start].contains('#')
        {
            ways.push(vec![(inside, String::new())]);
        }
        ways.push(vec![(item.range.start..end, String::new())]);
        ways.push(vec![
            (item.range.clone(), String::new()),
            (comma..end.max(comma), String::new()),
        ]);
        ways
    }

    fn remove_lines(&self, item: &Item, next: Option<&Item>) -> Vec<Splices> {
        let text = self.text;
        let end = line_end(text, item.range.end);
        if !first_on_line(text, item.range.start) {
            // The first of several behind a dash: the next one, or a comment above it, takes its place.
            let Some(next) = next else { return Vec::new() };
            let below = skip_blank(text, after_break(text, end));
            let upto = below.min(next.range.start);
            return vec![vec![(item.range.start..upto, String::new())]];
        }
        let start = line_start(text, item.range.start);
        let lines = |end: usize| {
            let behind = after_break(text, end);
            if behind > end {
                return vec![(start..behind, String::new())];
            }
            // The last line has no line break: then the line before loses its own.
            vec![(line_before(text, start)..end, String::new())]
        };
        let mut ways = vec![lines(end)];
        if item.outer_end > end {
            ways.push(vec![(start..item.outer_end, String::new())]);
        }
        ways
    }

    fn remove_flow(&self, item: &Item, before: Option<&Item>, next: Option<&Item>) -> Vec<Splices> {
        let text = self.text;
        let Item { range, .. } = item;
        let mut ways = Vec::new();
        let comma = skip_space(text, range.end, |_| false);
        let has_comma = text[comma..].starts_with(',');
        match (before, next) {
            (_, Some(next)) if !text[range.end..next.range.start].contains('#') => {
                ways.push(vec![(range.start..next.range.start, String::new())]);
            }
            (Some(before), None) if !text[before.range.end..range.start].contains('#') => {
                ways.push(vec![(before.range.end..range.end, String::new())]);
            }
            _ => {}
        }
        if has_comma {
            let end = line_end(text, comma);
            let rest = text[comma + 1..end].trim_start();
            if first_on_line(text, range.start) && (rest.is_empty() || rest.starts_with('#')) {
                let lines = line_start(text, range.start)..after_break(text, end);
                ways.push(vec![(lines, String::new())]);
            }
            ways.push(vec![(range.clone(), String::new()), (comma..comma + 1, String::new())]);
        }
        ways.push(vec![(range.clone(), String::new())]);
        ways
    }
}

/// Takes the lines of a value away and writes another one behind the `:` or `-` above them: for where
/// comments stand between the two.
fn lift(text: &str, target: &Node, item: Option<&Item>, written: &str) -> Option<Splices> {
    let lead = item?.lead?;
    let start = target.outer.start;
    let line = line_start(text, start);
    if line <= lead || !first_on_line(text, start) {
        return None;
    }
    let end = line_end(text, target.range.end);
    Some(vec![(lead..lead, format!(" {written}")), (line_before(text, line)..end, String::new())])
}

/// Where the line before the one that begins at `start` ends.
fn line_before(text: &str, start: usize) -> usize {
    let before = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// Behind blank lines and indentation.
fn skip_blank(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
}
