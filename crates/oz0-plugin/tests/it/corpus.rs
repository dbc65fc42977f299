//! The fuzz target's corpus, replayed: what was once found stays found, and needs no fuzzer.

use std::path::Path;

use oz0_plugin::manifest::decode;

/// What the fuzz target asserts of any bytes.
fn check(bytes: &[u8]) {
    let decoded = decode("oz0-plugin.yaml", bytes);
    assert_eq!(decoded.manifest.is_some(), decoded.diagnostics.is_empty());
    let len = decoded.source.text().len();
    for diagnostic in &decoded.diagnostics {
        let related = diagnostic.related.iter().map(|related| &related.span);
        for span in std::iter::once(&diagnostic.span).chain(related) {
            let range = span.range();
            assert!(range.start <= range.end && range.end <= len, "{range:?} of {len}");
            assert!(decoded.source.text().get(range).is_some());
            assert!(span.start() <= span.end());
        }
    }
}

#[test]
fn the_corpus_never_panics_and_every_span_is_inside_the_file() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/manifest");
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        check(&bytes);
        // Cut anywhere: what an editor has while somebody types.
        for end in (0..bytes.len()).step_by(1.max(bytes.len() / 64)) {
            check(&bytes[..end]);
        }
        count += 1;
    }
    assert!(count >= 20, "{count} files");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 256, ..Default::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        check(&bytes);
    }

    #[test]
    fn no_damage_to_the_full_manifest_makes_it_panic(
        at in proptest::prelude::any::<proptest::sample::Index>(),
        len in 0_usize..40,
        with in "[a-z:{}\\[\\],&*!|>'\"#%@\\- \n\t]{0,12}",
    ) {
        let text = std::fs::read_to_string(super::full::path().join("oz0-plugin.yaml")).unwrap();
        let start = at.index(text.len());
        let end = text.len().min(start + len);
        check(format!("{}{with}{}", &text[..start], &text[end..]).as_bytes());
    }
}
