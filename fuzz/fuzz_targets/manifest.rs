//! Any bytes as a manifest: never a panic, a manifest exactly when nothing is wrong, and every place inside the file.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let decoded = oz0_plugin::manifest::decode("oz0-plugin.yaml", bytes);
    assert_eq!(decoded.manifest.is_some(), decoded.diagnostics.is_empty());
    for diagnostic in &decoded.diagnostics {
        let related = diagnostic.related.iter().map(|related| &related.span);
        for span in std::iter::once(&diagnostic.span).chain(related) {
            assert!(decoded.source.text().get(span.range()).is_some());
        }
    }
});
