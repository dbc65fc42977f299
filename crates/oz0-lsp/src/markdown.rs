//! Texts of a plugin in Markdown: as text, whatever they hold.

use oz0_listing::escape;

/// A line of somebody's text: characters that nobody sees are written out, and nothing in it is Markdown. An image in it would
/// be fetched by the editor, a link would stand there with a name that it chose.
pub(crate) fn text(line: &str) -> String {
    let shown = escape::line(line);
    let mut out = String::with_capacity(shown.len() + 8);
    for c in shown.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
