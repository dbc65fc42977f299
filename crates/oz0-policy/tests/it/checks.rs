//! Any text as one of the files that hosts, keys and words are judged by, and as what is judged: never a panic, and
//! places inside the text.
//!
//! The first character says which file; what stands behind the last blank line is judged.

use oz0_policy::{annex_iii, hosts, providers};

/// One input.
pub(crate) fn check(text: &str) {
    let Some(first) = text.chars().next() else { return };
    let rest = &text[first.len_utf8()..];
    let (file, judged) = rest.rsplit_once("\n\n").unwrap_or(("", rest));
    match first {
        'h' => {
            for host in hosts::read(file).unwrap_or_default() {
                assert!(hosts::overlap(&host.pattern, &host.pattern));
                assert_eq!(
                    hosts::overlap(&host.pattern, judged),
                    hosts::overlap(judged, &host.pattern)
                );
            }
            for host in hosts::reached_by(judged) {
                assert!(hosts::overlap(&host.pattern, judged));
            }
        }
        'p' => {
            let Ok(providers) = providers::read(file) else { return };
            let found = providers.of_variable(judged).is_some();
            assert!(!found || providers.elsewhere(judged).is_none());
        }
        _ => {
            let areas = annex_iii::read(file).unwrap_or_default();
            for mention in annex_iii::mentions_of(&areas, judged) {
                assert!(judged.get(mention.range).is_some_and(|words| !words.is_empty()));
            }
            for mention in annex_iii::mentions(judged) {
                assert!(judged.get(mention.range).is_some_and(|words| !words.is_empty()));
            }
        }
    }
}
