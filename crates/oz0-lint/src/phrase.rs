//! Words of messages.

/// Names in backticks, at most a few of them: `` `a`, `b` and 3 more ``.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 4;
    let quoted: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    match (quoted.as_slice(), names.len() - quoted.len()) {
        ([before @ .., last], 0) if !before.is_empty() => {
            format!("{} and {last}", before.join(", "))
        }
        (all, 0) => all.concat(),
        (all, more) => format!("{} and {more} more", all.join(", ")),
    }
}
