//! What holds for any files, and for any bytes.

use std::collections::BTreeMap;

use oz0_bundle::{ReadError, Reader};
use oz0_plugin::{PackedFile, Plugin};
use proptest::prelude::*;

use super::support::{Archive, folder, frame, make_executable, pack, put, read, untar};

/// Paths as people and generators name files, short ones and such as tar needs a header of pax for.
fn paths() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        4 => "[a-z0-9_-]{1,8}(\\.[a-z]{1,3})?",
        1 => "[a-z]{101,110}",
        1 => "[\u{e9}\u{df}\u{3b1}-\u{3b5}\u{4e00}-\u{4e05}\u{1f600}]{1,5}x",
    ];
    proptest::collection::vec(name, 1..4)
        .prop_map(|parts| parts.join("/"))
        .prop_filter("a path has a limit", |path| path.len() <= 240)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_packed_is_what_is_read(
        files in proptest::collection::btree_map(
            paths(),
            (proptest::collection::vec(any::<u8>(), 0..1500), any::<bool>()),
            0..12,
        ),
    ) {
        let place = folder(&[]);
        let mut kept: BTreeMap<String, (Vec<u8>, bool)> = BTreeMap::new();
        for (path, (bytes, executable)) in files {
            // A name that is a folder already, or below a file, is for the file system to refuse.
            let path = format!("f/{path}");
            let is_taken = place.path().join(&path).exists()
                || std::path::Path::new(&path).ancestors().skip(1).any(|above| place.path().join(above).is_file());
            if is_taken {
                continue;
            }
            put(place.path(), &path, &bytes);
            if executable {
                make_executable(&place.path().join(&path));
            }
            kept.insert(path, (bytes, executable));
        }
        let plugin = Plugin::load(place.path()).unwrap();
        prop_assume!(plugin.publishing_findings().unwrap().is_empty());
        let (bytes, packed) = pack(place.path());
        let bundle = read(&bytes).unwrap();
        prop_assert_eq!(bundle.digest, packed.digest);
        let seen: BTreeMap<String, (Vec<u8>, bool)> = bundle
            .plugin
            .packed()
            .iter()
            .filter(|file| file.path.starts_with("f/"))
            .map(|file: &PackedFile| {
                let bytes = bundle.plugin.read_file(file, u64::MAX).unwrap();
                (file.path.clone(), (bytes, file.mode == oz0_plugin::Mode::Executable))
            })
            .collect();
        prop_assert_eq!(seen, kept);
        // The one way to write it down: what is read can be packed again from memory, to the same bytes.
        let mut again = Vec::new();
        oz0_bundle::pack(&bundle.plugin, &mut again).unwrap();
        prop_assert!(again == bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(read(&bytes).is_err());
        prop_assert!(read(&frame(&bytes)).is_err());
    }

    #[test]
    fn no_changed_archive_panics_or_passes_for_another(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        rest in 0_usize..3,
    ) {
        let files = folder(&[("a\u{e9}", b"x"), ("b/c", &[1; 700])]);
        let mut tar = untar(&pack(files.path()).0);
        for (at, byte) in changes {
            let at = at.index(tar.len());
            tar[at] = byte;
        }
        tar.truncate(tar.len() - rest * 512);
        let bundle = frame(&tar);
        if let Ok(bundle) = read(&bundle) {
            // It changed what files hold, and nothing of how they are written down.
            let mut again = Vec::new();
            if let Ok(packed) = oz0_bundle::pack(&bundle.plugin, &mut again) {
                prop_assert_eq!(packed.digest, bundle.digest);
            }
        }
    }

    #[test]
    fn a_stream_gives_what_a_whole_read_gives(
        parts in proptest::collection::vec(1_usize..5000, 1..4),
        bytes in proptest::collection::vec(any::<u8>(), 0..3000),
    ) {
        let bundle = pack(folder(&[("a.bin", &bytes)]).path()).0;
        let mut reader = Reader::new(bundle.as_slice()).unwrap();
        let begins = reader.compiled_manifest().starts_with(r#"{"description""#);
        prop_assert!(begins);
        let mut seen = Vec::new();
        let mut part = parts.iter().cycle();
        while let Some(entry) = reader.next_file().unwrap() {
            if entry.path != "a.bin" {
                continue;
            }
            loop {
                let mut buffer = vec![0; *part.next().unwrap()];
                match reader.read_part(&mut buffer).unwrap() {
                    0 => break,
                    read => seen.extend_from_slice(&buffer[..read]),
                }
            }
        }
        prop_assert_eq!(seen, bytes);
        let (digest, packed) = reader.finish().unwrap();
        prop_assert_eq!(digest, read(&bundle).unwrap().digest);
        prop_assert_eq!(packed, bundle.len() as u64);
    }
}

#[test]
fn a_reader_that_stopped_at_a_fault_stays_at_one() {
    let bundle = Archive::begun().file("B", b"").file("A", b"").bundle();
    let mut reader = Reader::new(bundle.as_slice()).unwrap();
    assert_eq!(reader.next_file().unwrap().unwrap().path, "B");
    assert!(matches!(reader.next_file(), Err(ReadError::Refused(_))));
    assert!(reader.finish().is_err());
}
