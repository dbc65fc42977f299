//! The page of this rule, `s007_pasted_secret.md`, says what it finds, what it must not find, and why.

use std::collections::HashMap;

use oz0_diagnostic::{Level, Span};

use crate::metadata::{Metadata, Plain, RunsOn};
use crate::rules::Rule;
use crate::sink::{Finding, Sink};
use crate::view::View;

const METADATA: Metadata = Metadata {
    code: "OZ-S007",
    name: "pasted-secret",
    plain: Plain::On(Level::Warning),
    runs_on: RunsOn::EveryPlugin,
    reads_functions: false,
    fixable: false,
    exemptible: false,
    page: include_str!("s007_pasted_secret.md"),
};

pub(super) static RULE: Rule = Rule::new(METADATA, check);

fn check(view: &View<'_>, sink: &mut Sink) {
    let manifest = view.manifest();
    let Some(requires) = &manifest.requires else { return };
    let mut named: HashMap<&str, Claim<'_>> = HashMap::new();
    let mut prefixes: HashMap<&str, Claim<'_>> = HashMap::new();
    for (key, connection) in &manifest.connections {
        let connection_name = key.value.as_str();
        for secret in &connection.secrets {
            let claim =
                Claim { connection: connection_name, place: &secret.span, how: "asks for it" };
            named.entry(secret.as_str()).or_insert(claim);
        }
        if let Some(prefix) = &connection.prefix {
            let claim =
                Claim { connection: connection_name, place: &prefix.span, how: "has its prefix" };
            // `TRACKER_` is the prefix `TRACKER` to whoever writes it; `_` alone would claim every secret that begins so.
            let bare = prefix.as_str().trim_end_matches('_');
            if !bare.is_empty() {
                prefixes.entry(bare).or_insert(claim);
            }
        }
    }
    for secret in requires.secrets.iter().chain(&requires.optional_secrets) {
        let name = secret.as_str();
        let claim = named.get(name).or_else(|| {
            // Every beginning that ends before a `_`, and the whole.
            let ends = name.match_indices('_').map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().find_map(|end| prefixes.get(&name[..end]))
        });
        let Some(Claim { connection, place, how }) = claim else { continue };
        let message =
            format!("`{name}` is pasted into the plugin, and the connection `{connection}` {how}");
        sink.push(Finding::at(&secret.span, message).related(place, "its connection's").help(
            "take it out of `requires:`, name the functions under the connection's `scopes:`, and read the token from the \
             call's `_meta` under `oz0/connections`",
        ));
    }
}

/// A connection's claim on a secret, and where it is made.
struct Claim<'v> {
    connection: &'v str,
    place: &'v Span,
    how: &'static str,
}
