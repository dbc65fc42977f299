use oz0_policy::hosts::{Category, all, overlap, reached_by};
use oz0_policy::providers;
use proptest::prelude::*;

#[test]
fn the_hosts_that_the_rule_names_are_found_with_their_category() {
    let npm = ["registry", "npmjs", "org"].join(".");
    let files = ["files", "pythonhosted", "org"].join(".");
    for (host, category) in [
        ("raw.githubusercontent.com", Category::CodeHost),
        ("codeload.github.com", Category::CodeHost),
        ("gist.github.com", Category::CodeHost),
        ("github.com", Category::CodeHost),
        (&npm, Category::PackageRegistry),
        (&files, Category::PackageRegistry),
        ("registry-1.docker.io", Category::ContainerRegistry),
        ("ghcr.io", Category::ContainerRegistry),
        ("cdn.jsdelivr.net", Category::PackageCdn),
        ("huggingface.co", Category::ModelHub),
        ("*.s3.amazonaws.com", Category::ObjectStore),
        ("bucket.s3.eu-west-1.amazonaws.com", Category::ObjectStore),
        ("storage.googleapis.com", Category::ObjectStore),
        ("pastebin.com", Category::Paste),
        ("transfer.sh", Category::TemporaryFiles),
        ("0x0.st", Category::TemporaryFiles),
        ("*.ngrok.io", Category::Tunnel),
        ("*.trycloudflare.com", Category::Tunnel),
        ("cdn.discordapp.com", Category::FileShare),
    ] {
        let found = reached_by(host);
        assert_eq!(found.first().map(|host| host.category), Some(category), "{host}");
    }
}

#[test]
fn ordinary_hosts_are_not() {
    for host in [
        "api.github.com",
        "api.example.com",
        "sts.amazonaws.com",
        "www.googleapis.com",
        "gmail.googleapis.com",
        "slack.com",
        "api.slack.com",
        "discord.com",
        "graph.microsoft.com",
        "example.org",
        "mygithub.com",
        "github.com.example.com",
        "127.0.0.1",
    ] {
        assert!(reached_by(host).is_empty(), "{host}: {:?}", reached_by(host));
    }
}

#[test]
fn a_pattern_reaches_what_it_overlaps() {
    let reaches =
        |pattern: &str, host: &str| reached_by(pattern).iter().any(|found| found.pattern == host);
    assert!(reaches("*.githubusercontent.com", "raw.githubusercontent.com"));
    assert!(reaches("*.amazonaws.com", "*.s3.amazonaws.com"));
    assert!(reaches("*.amazonaws.com", "s3.amazonaws.com"));
    assert!(reaches("*", "0x0.st"));
    assert!(!reaches("*.example.com", "raw.githubusercontent.com"));
}

#[test]
fn a_root_dot_and_capitals_make_no_other_host() {
    assert!(overlap("github.com.", "GitHub.com"));
    assert!(overlap("*.Example.com", "api.example.com."));
    assert!(!overlap("github.com", "github.community"));
}

#[test]
fn the_most_exact_host_comes_first() {
    assert_eq!(reached_by("raw.githubusercontent.com")[0].pattern, "raw.githubusercontent.com");
    assert_eq!(reached_by("RAW.githubusercontent.com")[0].pattern, "raw.githubusercontent.com");
}

#[test]
fn a_download_host_has_the_companions_of_its_own_system_alone() {
    let companions = |host: &str| reached_by(host)[0].companions.clone();
    assert_eq!(companions("codeload.github.com"), ["api.github.com"]);
    assert!(companions("gist.github.com").is_empty());
    assert!(companions("bucket.s3.amazonaws.com").is_empty());
}

#[test]
fn a_providers_key_is_known_and_another_systems_token_is_not() {
    for variable in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "HF_TOKEN"] {
        assert!(providers::of_variable(variable).is_some(), "{variable}");
    }
    for variable in ["GITHUB_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "TOKEN"] {
        assert!(providers::of_variable(variable).is_none(), "{variable}");
    }
    assert_eq!(providers::elsewhere("GITHUB_TOKEN"), Some("GitHub"));
}

/// A matcher by brute force: whether a pattern is a host.
fn matches(pattern: &[u8], host: &[u8]) -> bool {
    match pattern.split_first() {
        None => host.is_empty(),
        Some((b'*', rest)) => (0..=host.len()).any(|skipped| matches(rest, &host[skipped..])),
        Some((byte, rest)) => host.first() == Some(byte) && matches(rest, &host[1..]),
    }
}

proptest! {
    #[test]
    fn overlap_is_symmetric(left in "[ab.*]{0,8}", right in "[ab.*]{0,8}") {
        prop_assert_eq!(overlap(&left, &right), overlap(&right, &left));
    }

    #[test]
    fn two_patterns_of_one_host_overlap(
        host in "[ab.]{1,6}[ab]", left in "[ab.*]{0,6}", right in "[ab.*]{0,6}",
    ) {
        let both = matches(left.as_bytes(), host.as_bytes()) && matches(right.as_bytes(), host.as_bytes());
        prop_assert!(!both || overlap(&left, &right));
    }

    #[test]
    fn with_one_exact_side_overlap_is_a_match(host in "[ab.]{1,6}[ab]", pattern in "[ab.*]{0,6}") {
        let pattern = pattern.trim_end_matches('.');
        prop_assert_eq!(overlap(&host, pattern), matches(pattern.as_bytes(), host.as_bytes()));
    }
}

#[test]
fn no_companion_is_served_by_anyone_unless_it_is_of_the_same_system() {
    // A companion that is itself a content host would let two content hosts vouch for each other.
    for host in all() {
        for companion in &host.companions {
            for found in reached_by(companion) {
                assert_eq!(found.category, host.category, "{companion} of {}", host.pattern);
                assert!(
                    !found.companions.contains(&&*host.pattern),
                    "{companion}, {}",
                    host.pattern
                );
            }
        }
    }
}
