//! Whether a folder called `.git` is what git takes for a repository.
//!
//! git looks for a `HEAD` that is a reference or a commit's name, and for folders `objects` and `refs`
//! (`is_git_directory` of its `setup.c`). A folder of that name without them is nobody's repository: whatever is in it is read.

/// The bytes of a `HEAD` that are looked at.
pub(super) const HEAD: usize = 512;

/// Whether these are the bytes of a `HEAD`.
pub(super) fn is_head(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    if let Some(reference) = text.strip_prefix("ref:") {
        return reference.trim_start().starts_with("refs/");
    }
    text.len() >= 40 && text.bytes().take(40).all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::is_head;

    #[test]
    fn a_head_is_a_reference_or_a_commit() {
        for head in [
            "ref: refs/heads/main\n",
            "ref:refs/heads/main",
            "ref:\trefs/heads/main\n",
            "0123456789abcdef0123456789ABCDEF01234567\n",
            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
        ] {
            assert!(is_head(head.as_bytes()), "{head}");
        }
        for head in
            ["", "ref: heads/main", "import litellm\n", "0123456789abcdef", "REF: refs/heads/x"]
        {
            assert!(!is_head(head.as_bytes()), "{head}");
        }
    }
}
