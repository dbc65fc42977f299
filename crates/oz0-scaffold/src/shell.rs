//! Commands as they are shown, to be copied into a shell.

use std::fmt::Write as _;

/// A word as a POSIX shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.chars().any(char::is_control) {
        // What a terminal would act on is written as bash, zsh and ksh read it.
        let mut text = String::from("$'");
        for c in word.chars() {
            match c {
                '\\' => text.push_str(r"\\"),
                '\'' => text.push_str(r"\'"),
                '\n' => text.push_str(r"\n"),
                '\t' => text.push_str(r"\t"),
                // Writing into a string cannot fail.
                c if c.is_control() => {
                    let _ = write!(text, "\\u{:04x}", u32::from(c));
                }
                c => text.push(c),
            }
        }
        text + "'"
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Words as one command.
pub fn line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    words.join(" ")
}
