//! What looks like a secret.
//!
//! A manifest is committed and shown, so a secret in it is one that leaked. Nobody can tell one from
//! another text for sure; names and forms that secrets have are told here, and people are warned.

/// Parts of names that secrets have, in upper case.
const WORDS: [&str; 13] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "KEY",
    "PAT",
    "AUTH",
    "AUTHORIZATION",
    "COOKIE",
];

/// How keys of well-known issuers begin.
const STARTS: [&str; 18] = [
    "sk-",
    "sk_",
    "pk_live",
    "rk_live",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "eyJ",
    "ntn_",
    "-----BEGIN",
];

/// Whether a variable or a header with this name and value is likely a secret.
pub fn looks_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || ["true", "false", "none", "null"].contains(&&*value.to_lowercase()) {
        return false;
    }
    if holds_secret(value) {
        return true;
    }
    let named = is_named(name);
    // A path, a number or a short word is what such a name may be followed by and no secret:
    // `SSH_KEY_PATH=/home/me/key`, `MAX_TOKEN=1000`, `AUTH=none`.
    named
        && !value.starts_with(['/', '.', '~'])
        && value.len() >= 6
        && value.parse::<f64>().is_err()
}

fn is_named(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| WORDS.contains(&word.to_ascii_uppercase().as_str()))
}

/// Whether a header, or a part of a URL's query, is likely a secret, or is to be filled with one. These are nothing but
/// the value, so a number may be a key here, and what only a client fills in mostly is.
pub(crate) fn sends_secret(name: &str, value: &str) -> bool {
    let credentials = ["authorization", "proxy-authorization", "cookie"]
        .iter()
        .any(|header| name.eq_ignore_ascii_case(header));
    let filled_in = value.contains("${") || value.contains("{env:");
    (credentials && !value.trim().is_empty())
        || filled_in
        || looks_secret(name, value)
        || (is_named(name) && value.trim().len() >= 6)
}

/// Whether a text by itself has the form of a secret: a known issuer's, a bearer's, or a password in an address.
pub(crate) fn holds_secret(text: &str) -> bool {
    let text = text.trim();
    let bare = text.strip_prefix("Bearer ").unwrap_or(text);
    let known = bare.len() >= 16 && STARTS.iter().any(|start| bare.starts_with(start));
    let bearer = text.len() > bare.len() && bare.len() >= 8;
    let password = url::Url::parse(text).is_ok_and(|url| url.password().is_some());
    known || bearer || password
}

/// Where the secret of each word begins, if it likely has one: in the whole word, behind the `=` of an option, or as the
/// value of the option before it.
fn secret_parts(words: &[String]) -> impl Iterator<Item = (&String, Option<usize>)> {
    let options = std::iter::once("").chain(words.iter().map(String::as_str));
    words.iter().zip(options).map(|(word, before)| {
        let behind = word
            .split_once('=')
            .filter(|(name, value)| looks_secret(name.trim_start_matches('-'), value))
            .map(|(name, _)| name.len() + 1);
        let is_value = before.starts_with("--")
            && !before.contains('=')
            && !word.starts_with('-')
            && looks_secret(before, word);
        (word, behind.or((is_value || holds_secret(word)).then_some(0)))
    })
}

/// Whether a command likely holds a secret.
pub(crate) fn command_holds_secret(words: &[String]) -> bool {
    secret_parts(words).any(|(_, part)| part.is_some())
}

/// A command as it may be printed: of what looks like a secret, no more than shows which it is.
pub(crate) fn cut(words: &[String]) -> Vec<String> {
    secret_parts(words)
        .map(|(word, part)| match part {
            None => word.clone(),
            Some(at) => {
                let (before, secret) = word.split_at(at);
                before.chars().chain(secret.chars().take(4)).chain(['…']).collect()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_command_has_no_secret() {
        for (command, shown) in [
            ("x --token ghp_0123456789abcdefghij -v", "x --token ghp_… -v"),
            ("x --api-key=abcdef0123456789", "x --api-key=abcd…"),
            ("x TOKEN=sk-0123456789abcdef", "x TOKEN=sk-0…"),
            ("x --dsn postgres://me:pw@db.example.com/x", "x --dsn post…"),
            ("x --password hunter22", "x --password hunt…"),
            (
                "x --auth none --key-file /home/me/key --token --fast",
                "x --auth none --key-file /home/me/key --token --fast",
            ),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(cut(&words).join(" "), shown);
            assert_eq!(command_holds_secret(&words), command != shown, "{command}");
        }
    }

    #[test]
    fn keys_tokens_and_passwords_look_secret_and_settings_do_not() {
        for (name, value) in [
            ("GITHUB_TOKEN", "abcdef123"),
            ("X_API_KEY", "0123456789abcdef"),
            ("OPENAI", "sk-proj-0123456789abcdef"),
            ("DB", "postgres://me:hunter2@db.example.com/app"),
            ("Authorization", "Bearer abcdefgh12"),
        ] {
            assert!(looks_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("LOG_LEVEL", "debug"),
            ("SSH_KEY_PATH", "/home/me/.ssh/id"),
            ("MAX_TOKEN", "100000"),
            ("AUTH", "none"),
            ("KEYBOARD", "german-layout"),
            ("DB", "postgres://me@db.example.com/app"),
            ("EMPTY_TOKEN", ""),
        ] {
            assert!(!looks_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("authorization", "Basic x"),
            ("X-Api-Key", "12345678"),
            ("X-Anything", "${input:token}"),
            ("Cookie", "a=b"),
        ] {
            assert!(sends_secret(name, value), "{name}: {value}");
        }
        for (name, value) in [("X-Team", "red"), ("Authorization", ""), ("X-Auth", "none")] {
            assert!(!sends_secret(name, value), "{name}: {value}");
        }
    }
}
