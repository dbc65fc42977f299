//! What `docs/reference/listing-hash.md` and its vectors promise.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use oz0_listing::{Listing, Pointer};

#[derive(serde::Deserialize)]
struct Vectors {
    format: String,
    listed: Vec<Listed>,
    left_out: Vec<LeftOut>,
}

#[derive(serde::Deserialize)]
struct Listed {
    title: String,
    function: String,
    #[serde(default)]
    unstable: Vec<Pointer>,
    canonical: String,
    hash: String,
    plain: bool,
}

#[derive(serde::Deserialize)]
struct LeftOut {
    title: String,
    function: String,
}

fn reference(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn vectors() -> Vectors {
    serde_json::from_str(&reference("listing-hash-vectors.json")).unwrap()
}

#[test]
fn the_published_vectors_hold() {
    let vectors = vectors();
    assert_eq!(vectors.format, "oz0.listing-hash-vectors.v1");
    assert!(vectors.listed.len() >= 15 && vectors.left_out.len() >= 7);
    for vector in vectors.listed {
        let listing = Listing::read(&vector.function, &vector.unstable)
            .unwrap_or_else(|error| panic!("{}: {error}", vector.title));
        assert_eq!(listing.canonical(), vector.canonical, "{}", vector.title);
        assert_eq!(listing.hash().to_string(), vector.hash, "{}", vector.title);
    }
    for vector in vectors.left_out {
        assert!(Listing::read(&vector.function, &[]).is_err(), "{}", vector.title);
    }
}

/// Needs `python3`, which CI has. Where it is missing, only a run with `CI` set fails.
#[test]
fn the_published_snippet_computes_the_hash() {
    let page = reference("listing-hash.md");
    let (_, snippet) = page.split_once("```python\n").expect("the page has a Python snippet");
    let (snippet, _) = snippet.split_once("```").expect("the snippet ends");
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "python3 is required in CI");
        return;
    }
    let mut checked = 0;
    for vector in vectors().listed.into_iter().filter(|vector| vector.plain) {
        let mut python = Command::new("python3")
            .args(["-X", "utf8", "-c", snippet])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        python.stdin.take().unwrap().write_all(vector.function.as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", vector.title);
        assert_eq!(
            String::from_utf8(output.stdout).unwrap().trim(),
            vector.hash,
            "{}",
            vector.title
        );
        checked += 1;
    }
    assert!(checked >= 8);
}
