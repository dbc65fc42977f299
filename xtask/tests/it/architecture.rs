//! Every path that `ARCHITECTURE.md` names is there.

/// What reads like a path and is none of this tree: the protocol's methods, and files of a plugin.
const ELSEWHERE: [&str; 4] = ["tools/list", "tools/call", "server/discover", "tools.listing.json"];

/// A word in code marks that is a path of the tree: it has a slash or an extension that the tree uses, and none of
/// what only patterns, commands and addresses have.
fn is_path(code: &str) -> bool {
    let odd = |letter: char| " <>{}$*=:,()|\"'…~".contains(letter);
    let known = |name: &str| {
        [".md", ".rs", ".toml", ".json", ".txt", ".yml", ".lock"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    !ELSEWHERE.contains(&code)
        && !code.starts_with('/')
        && !code.contains(odd)
        && (code.contains('/') || known(code))
}

fn paths(text: &str) -> Vec<&str> {
    let mut fenced = false;
    text.lines()
        .filter(|line| {
            if line.starts_with("```") {
                fenced = !fenced;
            }
            !fenced
        })
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|code| is_path(code))
        .collect()
}

#[test]
fn every_path_that_the_architecture_names_exists() {
    let root = oz0_peers::workspace();
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let named = paths(&text);
    assert!(named.len() > 10, "it names paths: {named:?}");
    let missing: Vec<_> = named.into_iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
}

#[test]
fn paths_are_told_from_other_code() {
    let text = "`crates/oz0/src` and `deny.toml`, not `oz0 plugin test`, `tools/list {}`, `Span`, `/proc` or\n\
        ```\n`fenced/path`\n```\n`docs/`";
    assert_eq!(paths(text), ["crates/oz0/src", "deny.toml", "docs/"]);
}
