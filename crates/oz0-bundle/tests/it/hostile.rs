//! Archives that somebody made to be read otherwise than they look.

use std::io::Write as _;
use std::path::Path;

use oz0_bundle::{COMPILED_LIMIT, Fault, ReadError};
use oz0_plugin::{PathFault, limits};

use super::support::{Archive, MANIFEST, fault, folder, frame, licence, pack, read};

/// The rest of a plugin, from its licence on.
fn whole(archive: Archive) -> Archive {
    archive
        .file("LICENSE", licence().as_bytes())
        .file("README.md", b"# Notes\n")
        .file("oz0-plugin.yaml", MANIFEST.as_bytes())
        .file("server.py", b"print()\n")
}

#[test]
fn what_the_hand_makes_is_what_pack_makes() {
    let folder = folder(&[]);
    let bundle = read(&whole(Archive::begun()).bundle()).unwrap();
    assert_eq!(bundle.digest, pack(folder.path()).1.digest);
}

#[test]
fn paths_that_leave_the_plugin_or_fit_no_system_are_refused() {
    let table = [
        ("../x", PathFault::Dots),
        ("a/../../x", PathFault::Dots),
        ("./x", PathFault::Dots),
        ("/etc/passwd", PathFault::Absolute),
        ("//x", PathFault::Absolute),
        ("a//x", PathFault::Empty),
        ("a/", PathFault::Empty),
        ("C:\\x", PathFault::Sign(':')),
        ("a\\..\\x", PathFault::Sign('\\')),
        ("a\nb", PathFault::Control),
        ("aux.py", PathFault::Device),
        ("x.", PathFault::End),
    ];
    for (path, expected) in table {
        let bundle = whole(Archive::begun().file(path, b"")).bundle();
        assert_eq!(fault(&bundle), Fault::Path(path.to_owned(), expected), "{path:?}");
    }
}

#[test]
fn nothing_but_plain_files_in_plain_headers_is_taken() {
    type Change = fn(&mut [u8; 512]);
    let changes: [(&str, Change); 24] = [
        ("a hard link", |h| h[156] = b'1'),
        ("a symbolic link", |h| h[156] = b'2'),
        ("a character device", |h| h[156] = b'3'),
        ("a block device", |h| h[156] = b'4'),
        ("a folder", |h| h[156] = b'5'),
        ("a pipe", |h| h[156] = b'6'),
        ("a contiguous file", |h| h[156] = b'7'),
        ("a file of before POSIX", |h| h[156] = 0),
        ("a global pax header", |h| h[156] = b'g'),
        ("a long name of GNU's", |h| h[156] = b'L'),
        ("a long link of GNU's", |h| h[156] = b'K'),
        ("a sparse file of GNU's", |h| h[156] = b'S'),
        ("an unknown kind", |h| h[156] = b'Z'),
        ("the magic of GNU", |h| h[257..265].copy_from_slice(b"ustar  \0")),
        ("no magic", |h| h[257..265].fill(0)),
        ("an owner", |h| h[114] = b'1'),
        ("an owner's name", |h| h[265] = b'r'),
        ("a time", |h| h[146] = b'1'),
        ("a set-user-ID bit", |h| h[100..107].copy_from_slice(b"0004755")),
        ("mode 666", |h| h[100..107].copy_from_slice(b"0000666")),
        ("a mode with blanks", |h| h[100..107].copy_from_slice(b"    644")),
        ("a link's name", |h| h[157] = b'x'),
        ("a device's number", |h| h[335] = b'1'),
        ("bytes behind the fields", |h| h[511] = b'x'),
    ];
    for (what, change) in changes {
        let bundle = whole(Archive::begun().entry("A", b"x", change)).bundle();
        assert_eq!(fault(&bundle), Fault::Header("the compiled manifest".to_owned()), "{what}");
    }
    // Two ways to write a length: in base 256, and with a sign.
    for length in [[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], *b"+0000000001\0", *b"         1 \0"] {
        let bundle = whole(Archive::begun().entry("A", b"x", |header| {
            header[124..136].copy_from_slice(&length);
        }))
        .bundle();
        assert!(matches!(fault(&bundle), Fault::Header(_)), "{length:?}");
    }
    // A path in two fields where one holds it, and what stands behind a path's end.
    let cut = |header: &mut [u8; 512]| header[345..348].copy_from_slice(b"dir");
    assert!(matches!(
        fault(&whole(Archive::begun().entry("A", b"", cut)).bundle()),
        Fault::Header(_)
    ));
    let hidden = |header: &mut [u8; 512]| header[50] = b'x';
    assert!(matches!(
        fault(&whole(Archive::begun().entry("A", b"", hidden)).bundle()),
        Fault::Header(_)
    ));
}

#[test]
fn a_wrong_checksum_is_refused() {
    let mut tar = whole(Archive::begun().file("A", b"x")).tar();
    let at = tar.windows(10).position(|bytes| bytes == b"A\0\0\0\0\0\0\0\0\0").unwrap();
    tar[at + 150] ^= 1;
    assert!(matches!(fault(&frame(&tar)), Fault::Header(_)));
}

#[test]
fn a_pax_header_says_one_path_in_one_way_or_is_refused() {
    let pax = |record: &[u8], name: &str| {
        Archive::begun().entry("pax-header", record, |header| header[156] = b'x').file(name, b"x")
    };
    let elsewhere = "path-is-in-the-pax-header";
    // The way in which a bundle says a path that is not ASCII.
    assert_eq!(fault(&pax("11 path=\u{e9}\n".as_bytes(), elsewhere).bundle()), Fault::NoManifest);
    for (what, record, name) in [
        ("a path that needs none", "9 path=A\n", elsewhere),
        ("another name in the header", "11 path=\u{e9}\n", "A"),
        ("a wrong length", "12 path=\u{e9}\n", elsewhere),
        ("a length with zeros", "012 path=\u{e9}\n", elsewhere),
        ("two records", "11 path=\u{e9}\n11 path=\u{e8}\n", elsewhere),
        ("a size of its own", "11 path=\u{e9}\n11 size=99\n", elsewhere),
        ("a size alone", "11 size=99\n", elsewhere),
        ("a link's path", "16 linkpath=/etc\n", elsewhere),
        ("no line end", "11 path=\u{e9}x", elsewhere),
        ("nothing", "", elsewhere),
    ] {
        let refused = fault(&pax(record.as_bytes(), name).bundle());
        assert!(matches!(refused, Fault::Header(_)), "{what}: {refused:?}");
    }
    // What a path of pax may say is what any path may.
    let up = pax("14 path=../\u{e9}\n".as_bytes(), elsewhere).bundle();
    assert_eq!(fault(&up), Fault::Path("../\u{e9}".to_owned(), PathFault::Dots));
    // Two in a row, and one before nothing.
    let two = Archive::begun()
        .entry("pax-header", "11 path=\u{e9}\n".as_bytes(), |header| header[156] = b'x')
        .entry("pax-header", "11 path=\u{e8}\n".as_bytes(), |header| header[156] = b'x')
        .file(elsewhere, b"");
    assert!(matches!(fault(&two.bundle()), Fault::Header(_)));
    let last = Archive::begun()
        .entry("pax-header", "11 path=\u{e9}\n".as_bytes(), |header| header[156] = b'x');
    assert!(matches!(fault(&last.bundle()), Fault::Header(_)));
}

#[test]
fn files_come_once_and_in_order() {
    let twice = Archive::begun().file("A", b"").file("A", b"other");
    assert_eq!(fault(&twice.bundle()), Fault::Order("A".to_owned()));
    let back = Archive::begun().file("B", b"").file("A", b"");
    assert_eq!(fault(&back.bundle()), Fault::Order("A".to_owned()));
    let manifest_again = whole(Archive::begun()).file("zz", b"").file("oz0-plugin.json", b"{}");
    assert_eq!(fault(&manifest_again.bundle()), Fault::Order("oz0-plugin.json".to_owned()));
}

#[test]
fn paths_that_some_system_takes_for_one_are_refused() {
    for (first, second) in
        [("A", "a"), ("A/x", "a/y"), ("a", "a/b"), ("OZ0-PLUGIN.yaml", "oz0-plugin.yaml")]
    {
        let bundle = Archive::begun().file(first, b"").file(second, b"").bundle();
        assert!(matches!(fault(&bundle), Fault::Clash(..)), "{first} and {second}");
    }
    let own = Archive::begun().file("OZ0-PLUGIN.json", b"{}");
    assert!(matches!(fault(&own.bundle()), Fault::Clash(..)), "a second compiled manifest");
}

#[test]
fn the_compiled_manifest_is_there_first_and_true() {
    let files = whole(Archive::default()).bundle();
    assert_eq!(fault(&files), Fault::NoCompiledManifest);
    assert_eq!(fault(&Archive::default().bundle()), Fault::NoCompiledManifest);
    let other = whole(Archive::default().file("oz0-plugin.json", br#"{"name":"notes"}"#)).bundle();
    assert_eq!(fault(&other), Fault::CompiledDiffers);
    let spaced = whole(Archive::default().file("oz0-plugin.json", b"\xFF")).bundle();
    assert_eq!(fault(&spaced), Fault::CompiledDiffers);
    let large = vec![b' '; usize::try_from(COMPILED_LIMIT).unwrap() + 1];
    assert_eq!(
        fault(&Archive::default().file("oz0-plugin.json", &large).bundle()),
        Fault::CompiledTooLarge
    );
    assert_eq!(fault(&Archive::begun().bundle()), Fault::NoManifest);
    // A manifest that does not decode is told as its findings.
    let broken = Archive::begun().file("oz0-plugin.yaml", b"name: 1\n").bundle();
    let Err(ReadError::Findings(findings)) = read(&broken) else { panic!("it was read") };
    assert!(findings.len() > 1);
}

#[test]
fn a_file_that_a_walk_leaves_out_is_refused() {
    for path in [".git/config", "a/__pycache__/x.py", "notes-1.0.0.oz0", "x.pyc"] {
        let mut archive = Archive::begun();
        let mut files: Vec<(&str, &[u8])> = vec![
            ("LICENSE", licence().as_bytes()),
            ("README.md", b"# Notes\n"),
            ("oz0-plugin.yaml", MANIFEST.as_bytes()),
            ("server.py", b"print()\n"),
            (path, b""),
        ];
        files.sort_unstable_by_key(|(path, _)| *path);
        for (path, bytes) in files {
            archive = archive.file(path, bytes);
        }
        assert_eq!(fault(&archive.bundle()), Fault::Stray(path.to_owned()));
    }
    // What an .oz0ignore in the bundle would hide from whoever unpacks it.
    let hidden = Archive::begun()
        .file(".oz0ignore", b"*.so\n")
        .file("a/evil.so", b"")
        .file("oz0-plugin.yaml", MANIFEST.as_bytes());
    assert_eq!(fault(&hidden.bundle()), Fault::Stray("a/evil.so".to_owned()));
}

#[test]
fn nothing_hides_between_files_or_behind_the_end() {
    let mut tar = whole(Archive::begun().file("A", b"x")).tar();
    let at = tar.windows(4).position(|bytes| bytes == b"x\0\0\0").unwrap();
    tar[at + 100] = 1;
    assert_eq!(fault(&frame(&tar)), Fault::Padding("A".to_owned()));

    let tar = whole(Archive::begun()).tar();
    for rest in [vec![0; 512], vec![1; 512], vec![0; 9216]] {
        assert_eq!(fault(&frame(&[&tar[..], &rest].concat())), Fault::Trailing);
    }
    // One block of zeros is no end.
    let one = [&tar[..tar.len() - 512], &vec![1; 512]].concat();
    assert!(matches!(fault(&frame(&one)), Fault::Header(_)));

    let bundle = frame(&tar);
    assert_eq!(fault(&[&bundle[..], b"x"].concat()), Fault::Trailing);
    assert_eq!(fault(&[&bundle[..], &bundle[..]].concat()), Fault::Trailing, "a second frame");
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0];
    assert_eq!(fault(&[&bundle[..], &skippable].concat()), Fault::Trailing);
    assert_eq!(fault(&[&skippable, &bundle[..]].concat()), Fault::NotABundle);
}

#[test]
fn every_shorter_bundle_is_refused() {
    let bundle = whole(Archive::begun()).bundle();
    for len in 0..bundle.len() {
        assert!(matches!(read(&bundle[..len]), Err(ReadError::Refused(_))), "{len} bytes");
    }
    let tar = whole(Archive::begun()).tar();
    for len in (0..tar.len()).step_by(256) {
        assert!(matches!(read(&frame(&tar[..len])), Err(ReadError::Refused(_))), "{len} bytes");
    }
}

#[test]
fn every_changed_bit_is_noticed_or_changes_nothing() {
    let bundle = whole(Archive::begun()).bundle();
    let digest = read(&bundle).unwrap().digest;
    let mut same = 0;
    for at in 0..bundle.len() {
        for bit in 0..8 {
            let mut changed = bundle.clone();
            changed[at] ^= 1 << bit;
            // Some bits of zstd's say the same either way; the archive is then the same too.
            if let Ok(read) = read(&changed) {
                assert_eq!(read.digest, digest, "bit {bit} of byte {at}");
                same += 1;
            }
        }
    }
    assert!(same < bundle.len() / 10, "{same} of {} bits", bundle.len() * 8);
}

#[test]
fn frames_that_not_every_decoder_reads_are_refused() {
    let tar = whole(Archive::begun()).tar();
    let encode = |set: &dyn Fn(&mut zstd::Encoder<'static, Vec<u8>>)| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.set_pledged_src_size(Some(tar.len() as u64)).unwrap();
        set(&mut encoder);
        encoder.write_all(&tar).unwrap();
        encoder.finish().unwrap()
    };
    let no_checksum = encode(&|encoder| encoder.include_checksum(false).unwrap());
    assert_eq!(fault(&no_checksum), Fault::Frame("has no checksum"));
    let no_size = encode(&|encoder| {
        encoder.set_pledged_src_size(None).unwrap();
        encoder.include_contentsize(false).unwrap();
    });
    assert_eq!(fault(&no_size), Fault::Frame("does not say how long its content is"));
    let large: Vec<u8> = {
        // A window of 128 MiB is announced by the frame's third header byte; nothing has to be so long.
        let mut bundle = vec![0x28, 0xB5, 0x2F, 0xFD, 0x84, 17 << 3];
        bundle.extend_from_slice(&(20_u32 << 20).to_le_bytes());
        bundle
    };
    assert_eq!(fault(&large), Fault::Frame("has a window of more than 8 MiB"));
    let dictionary = [0x28, 0xB5, 0x2F, 0xFD, 0x25, 1, 9, 0, 0];
    assert_eq!(fault(&dictionary), Fault::Frame("needs a dictionary"));
    let reserved = [0x28, 0xB5, 0x2F, 0xFD, 0x2C, 9, 0, 0];
    assert_eq!(fault(&reserved), Fault::Frame("has a bit set that means nothing"));
    assert_eq!(fault(b"PK\x03\x04"), Fault::NotABundle);
    assert_eq!(fault(b"\x1f\x8b\x08"), Fault::NotABundle);
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    // What the frame announces.
    let mut announced = vec![0x28, 0xB5, 0x2F, 0xFD, 0xC4, 10 << 3];
    announced.extend_from_slice(&(1_u64 << 40).to_le_bytes());
    assert_eq!(fault(&announced), Fault::UnpackedTooLarge);
    // What a header announces, whatever follows.
    let announced = Archive::begun().entry("A", b"", |header| {
        header[124..135].copy_from_slice(format!("{:011o}", limits::BYTES + 1).as_bytes());
    });
    assert_eq!(fault(&announced.bundle()), Fault::UnpackedTooLarge);
    let two = Archive::begun().file("A", &[0; 512]).entry("B", b"", |header| {
        header[124..135].copy_from_slice(format!("{:011o}", limits::BYTES - 100).as_bytes());
    });
    assert_eq!(fault(&two.bundle()), Fault::UnpackedTooLarge);
    // A length that is not there takes no memory.
    let absent = Archive::begun().entry("A", b"", |header| {
        header[124..135].copy_from_slice(format!("{:011o}", limits::BYTES).as_bytes());
    });
    assert_eq!(fault(&absent.bundle()), Fault::Truncated);
}

#[test]
fn more_files_than_a_plugin_has_are_refused() {
    let mut archive = Archive::begun();
    for number in 0..=limits::FILES {
        archive = archive.file(&format!("a{number:05}"), b"");
    }
    assert_eq!(fault(&archive.bundle()), Fault::TooManyFiles);
}

#[test]
fn a_path_longer_than_a_plugin_has_is_refused() {
    let path = format!("\u{e9}{}", "a".repeat(limits::PATH));
    let record = format!(" path={path}\n");
    let record = format!("{}{record}", record.len() + 3);
    let archive = Archive::begun()
        .entry("pax-header", record.as_bytes(), |header| header[156] = b'x')
        .file("path-is-in-the-pax-header", b"");
    assert_eq!(fault(&archive.bundle()), Fault::LongPath(path));
}

#[test]
fn a_bundle_larger_than_a_bundle_is_refused() {
    // A frame of raw blocks, which nothing compresses: 64 MiB and more for zeros.
    let mut tar = whole(Archive::begun().file("A", &vec![0; 65 << 20])).tar();
    let mut bundle = vec![0x28, 0xB5, 0x2F, 0xFD, 0x84, 10 << 3];
    bundle.extend_from_slice(&u32::try_from(tar.len()).unwrap().to_le_bytes());
    let size = 128 * 1024;
    while !tar.is_empty() {
        let rest = tar.split_off(tar.len().min(size));
        let header = u32::try_from(tar.len() << 3).unwrap() | u32::from(rest.is_empty());
        bundle.extend_from_slice(&header.to_le_bytes()[..3]);
        bundle.extend_from_slice(&tar);
        tar = rest;
    }
    bundle.extend_from_slice(&[0; 4]);
    assert_eq!(fault(&bundle), Fault::PackedTooLarge);
}

/// A disk that fails.
struct Failing<'b>(&'b [u8]);

impl std::io::Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0.is_empty() {
            return Err(std::io::Error::other("the disk is gone"));
        }
        self.0.read(buffer)
    }
}

#[test]
fn a_disk_that_fails_is_no_fault_of_the_bundle() {
    let bundle = whole(Archive::begun()).bundle();
    for len in [0, 3, 20, bundle.len() - 1, bundle.len()] {
        let read = oz0_bundle::read(Failing(&bundle[..len]), Path::new("a.oz0"));
        let Err(ReadError::Io(error)) = read else { panic!("{len}: {read:?}") };
        assert_eq!(error.to_string(), "the disk is gone");
    }
}
