//! Environment markers (PEP 508, "Environment Markers"), read and written anew.

/// The variables that a marker may ask for.
const VARIABLES: [&str; 12] = [
    "python_version",
    "python_full_version",
    "os_name",
    "sys_platform",
    "platform_release",
    "platform_system",
    "platform_version",
    "platform_machine",
    "platform_python_implementation",
    "implementation_name",
    "implementation_version",
    "extra",
];

/// How deep parentheses may stand in each other.
const DEPTH: u8 = 32;

/// Reads a marker up to the end or an option, and gives it as it is written anew, with the rest.
pub(super) fn read(text: &str) -> Result<(String, &str), String> {
    let mut reader = Reader { rest: text.trim_start(), written: Vec::new() };
    reader.alternatives(0)?;
    Ok((reader.written.join(" "), reader.rest))
}

struct Reader<'a> {
    rest: &'a str,
    written: Vec<String>,
}

impl<'a> Reader<'a> {
    fn alternatives(&mut self, depth: u8) -> Result<(), String> {
        loop {
            self.comparison(depth)?;
            if !["and", "or"].into_iter().any(|word| self.word(word)) {
                return Ok(());
            }
        }
    }

    fn comparison(&mut self, depth: u8) -> Result<(), String> {
        if self.sign("(") {
            if depth == DEPTH {
                return Err(format!("it is nested more than {DEPTH} deep"));
            }
            self.alternatives(depth + 1)?;
            return if self.sign(")") { Ok(()) } else { Err("a ) is missing".to_owned()) };
        }
        let left = self.operand()?;
        self.operator()?;
        let right = self.operand()?;
        if left || right { Ok(()) } else { Err("it compares no variable".to_owned()) }
    }

    /// Whether it is a variable.
    fn operand(&mut self) -> Result<bool, String> {
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let inner = &self.rest[1..];
            let (value, rest) = inner.split_once(quote).ok_or("a quotation mark is missing")?;
            let is_plain = |c: char| {
                matches!(c, ' '..='~') && !matches!(c, '"' | '\'' | '\\' | '#' | ';' | '`' | '$')
            };
            if !value.chars().all(is_plain) {
                return Err("a value has characters that no marker needs".to_owned());
            }
            self.take(format!("'{value}'"), rest);
            return Ok(false);
        }
        let name = self.name();
        if !VARIABLES.contains(&name) {
            return Err("there is no variable or value where one should be".to_owned());
        }
        self.take(name.to_owned(), &self.rest[name.len()..]);
        Ok(true)
    }

    fn operator(&mut self) -> Result<(), String> {
        if self.word("in") {
            return Ok(());
        }
        if self.word("not") {
            return if self.word("in") { Ok(()) } else { Err("not stands without in".to_owned()) };
        }
        // The longer ones first.
        if ["===", "~=", "==", "!=", "<=", ">=", "<", ">"].into_iter().any(|sign| self.sign(sign)) {
            return Ok(());
        }
        Err("there is no comparison where one should be".to_owned())
    }

    fn name(&self) -> &'a str {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        &self.rest[..end.unwrap_or(self.rest.len())]
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.name() == word;
        if found {
            self.take(word.to_owned(), &self.rest[word.len()..]);
        }
        found
    }

    fn sign(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        if let Some(rest) = rest {
            self.take(sign.to_owned(), rest);
        }
        rest.is_some()
    }

    fn take(&mut self, written: String, rest: &'a str) {
        self.written.push(written);
        self.rest = rest.trim_start();
    }
}
