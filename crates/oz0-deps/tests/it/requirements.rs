//! Requirements and constraints files, as pip reads them.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::python::{found, is_unread, names, names_nothing, unread};
use crate::support::of_files;

#[test]
fn every_way_to_ask_for_a_package_in_a_line_is_found() {
    for (line, place) in [
        ("litellm", "1:1 litellm"),
        ("  LiteLLM[proxy, extra]>=1.0,<2 ; python_version>'3' # why", "1:3 LiteLLM"),
        ("litellm_proxy.extras==1 --hash=sha256:00", "1:1 litellm_proxy.extras"),
        ("litellm @ https://example.com/x.whl", "1:1 litellm"),
        ("x @ https://example.com/litellm-1.0-py3-none-any.whl", "1:25 litellm"),
        ("https://example.com/a/litellm-1.0.tar.gz#sha256=00", "1:23 litellm"),
        ("https://example.com/a/litellm%2D1.0.tar.gz", "1:23 litellm"),
        ("git+https://github.com/BerriAI/litellm", "1:32 litellm"),
        ("git+https://github.com/BerriAI/litellm.git@main ; python_version>'3'", "1:32 litellm"),
        ("git+https://token@github.com/BerriAI/litellm@feature/x", "1:38 litellm"),
        ("git+ssh://git@github.com/someone/litellm.git", "1:34 litellm"),
        ("git+https://example.com/group/sub/litellm-enterprise/", "1:35 litellm-enterprise"),
        ("https://github.com/BerriAI/litellm/archive/refs/heads/main.zip", "1:28 litellm"),
        ("https://github.com/BerriAI/litellm/archive/v1.0.tar.gz", "1:28 litellm"),
        ("https://codeload.github.com/someone/litellm/zip/main", "1:37 litellm"),
        ("https://api.github.com/repos/BerriAI/litellm/tarball/main", "1:38 litellm"),
        ("git+https://example.com/x#egg=litellm[proxy]", "1:31 litellm"),
        ("git+https://example.com/x#subdirectory=a&egg=LiteLLM", "1:46 LiteLLM"),
        ("git+https://example.com/x#egg=litellm-1.0", "1:31 litellm-1.0"),
        ("git+https://example.com/x#subdirectory=packages/litellm", "1:49 litellm"),
        ("-e git+https://github.com/BerriAI/litellm#egg=x", "1:35 litellm"),
        ("--editable=git+https://github.com/BerriAI/litellm#egg=x", "1:43 litellm"),
        (
            "--edit 'git+https://github.com/BerriAI/litellm#egg=x'",
            "1:8 'git+https://github.com/BerriAI/litellm#egg=x'",
        ),
        ("-e 'litellm @ git+https://example.com/x'", "1:4 'litellm @ git+https://example.com/x'"),
        ("./wheels/litellm-1.0-py3-none-any.whl", "1:10 litellm"),
        ("../outside/litellm-1.0.zip", "1:12 litellm"),
        ("./a#b/litellm-1.0-py3-none-any.whl", "1:7 litellm"),
        ("litellm-1.0-py3-none-any.whl", "1:1 litellm"),
        ("file:///tmp/litellm-1.0-py3-none-any.whl", "1:13 litellm"),
        ("git+https://${TOKEN}@github.com/BerriAI/litellm", "1:41 litellm"),
        ("litellm==${VERSION}", "1:1 litellm"),
    ] {
        names("requirements.txt", line, &[&format!("{place} Direct")]);
    }
}

#[test]
fn a_mere_mention_in_a_line_is_not_found() {
    for line in [
        "# litellm",
        "httpx # litellm",
        "--no-binary litellm",
        "--no-binary=litellm",
        "--only-binary litellm",
        "--find-links litellm",
        "-f https://example.com/litellm",
        "--index-url https://litellm.example.com/litellm",
        "--trusted-host litellm",
        "--pre litellm",
        "httpx --hash=sha256:litellm",
        "https://example.com/litellm/other-1.0-py3-none-any.whl",
        "./litellm",
        "-e ./litellm[x]",
        "-e .",
        "git+https://github.com/other/x@litellm",
        "git+https://litellm@github.com/other/x",
        "git+https://github.com/litellm/x",
        "git+https://github.com/other/x#egg=other&x=litellm",
        "https://github.com/BerriAI/litellm/releases/download/v1/other-1.0-py3-none-any.whl",
        "other @ file:///croot/litellm/work",
        "",
    ] {
        names_nothing("requirements.txt", line);
    }
}

#[test]
fn lines_end_and_go_on_as_python_and_pip_have_it() {
    for separator in [
        "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}", "\u{2028}",
        "\u{2029}",
    ] {
        let reading = of_files(&[(
            "requirements.txt",
            format!("# a{separator}litellm{separator}b").as_bytes(),
        )]);
        assert_eq!(reading.mentions.len(), 1, "{separator:?}");
        assert_eq!(reading.mentions[0].span.text(), "litellm");
    }
    names("requirements.txt", "lite\\\nllm\\\n>=1\nhttpx", &["1:1 lite\\\nllm Direct"]);
    names("requirements.txt", "httpx \\\n# litellm \\\nlitellm", &["3:1 litellm Direct"]);
    names("requirements.txt", "litellm \\", &["1:1 litellm Direct"]);
    names(
        "requirements.txt",
        "a \\\n  --hash=sha256:00 \\\n  --hash=sha256:11\nlitellm",
        &["4:1 litellm Direct"],
    );
    names_nothing("requirements.txt", "httpx\\\nlitellm");
}

#[test]
fn bytes_are_decoded_by_mark_or_cookie() {
    let utf16 = |little: bool| {
        let mut bytes = if little { vec![0xff, 0xfe] } else { vec![0xfe, 0xff] };
        for unit in "a\nlitellm\n".encode_utf16() {
            bytes.extend(if little { unit.to_le_bytes() } else { unit.to_be_bytes() });
        }
        bytes
    };
    let utf32 = |little: bool| {
        let mut bytes = if little { vec![0xff, 0xfe, 0, 0] } else { vec![0, 0, 0xfe, 0xff] };
        for c in "a\nlitellm\n".chars() {
            bytes.extend(if little {
                u32::from(c).to_le_bytes()
            } else {
                u32::from(c).to_be_bytes()
            });
        }
        bytes
    };
    for bytes in
        [utf16(true), utf16(false), utf32(true), utf32(false), b"\xef\xbb\xbfa\nlitellm".to_vec()]
    {
        let reading = of_files(&[("requirements.txt", &bytes)]);
        assert_eq!(found(&reading), ["requirements.txt:2:1 litellm Direct"]);
    }
    names("requirements.txt", "\u{feff}litellm", &["1:1 litellm Direct"]);
    let latin =
        of_files(&[("requirements.txt", b"# coding: latin-1 \xe9\nlitellm # \xe9".as_slice())]);
    assert_eq!(found(&latin), ["requirements.txt:2:1 litellm Direct"]);
    is_unread("requirements.txt", b"a\nlitellm # \xe9", "2:11", "is not UTF-8");
    is_unread("requirements.txt", "# -*- coding: utf-7 -*-\n+AGwAaQB0AGUAbABsAG0-", "1:1", "utf-7");
    is_unread("requirements.txt", b"\xff\xfea\0\x00\xd8", "1:2", "is not UTF-16");
    is_unread("requirements.txt", b"\xff\xfe\0\0a", "1:1", "is not UTF-32");
}

#[test]
fn the_names_of_such_files_are_many() {
    for path in [
        "requirements.txt",
        "requirements-dev.txt",
        "test-requirements.txt",
        "dev-requirements.in",
        "Requirements.TXT",
        "a/requirements/base.txt",
        "a/requirements/deep/base.in",
    ] {
        names(path, "litellm", &["1:1 litellm Direct"]);
    }
    for path in ["constraints.txt", "a/upper-constraints.txt", "constraints/x.txt"] {
        names(path, "litellm==1", &["1:1 litellm Constraint"]);
    }
    for path in ["notes.txt", "requirements.md", "a/require/x.txt"] {
        names_nothing(path, "litellm");
    }
}

#[test]
fn files_are_included_in_every_spelling_of_the_options() {
    for (line, how) in [
        ("-r x.lst", "Direct"),
        ("-rx.lst", "Direct"),
        ("-r  x.lst", "Direct"),
        ("-r 'x.lst'", "Direct"),
        ("--requirement x.lst", "Direct"),
        ("--requirement=x.lst", "Direct"),
        ("--requirem=x.lst", "Direct"),
        ("-r x\\.lst", "Direct"),
        ("--pre -r x.lst", "Direct"),
        ("-r ./a/../x.lst", "Direct"),
        ("-r x.lst -r missing", "Direct"),
        ("-c missing -r x.lst", "Direct"),
        ("-c x.lst", "Constraint"),
        ("-cx.lst", "Constraint"),
        ("--constraint=x.lst", "Constraint"),
        ("--constr x.lst", "Constraint"),
        ("  -c x.lst # why", "Constraint"),
    ] {
        let reading =
            of_files(&[("d/requirements.txt", line.as_bytes()), ("d/x.lst", b"a\nlitellm")]);
        let expected = format!("d/x.lst:2:1 litellm {how} through d/requirements.txt → d/x.lst");
        assert_eq!(found(&reading), [expected], "{line}");
        assert_eq!(unread(&reading), [""; 0], "{line}");
    }
}

#[test]
fn an_include_that_is_not_read_is_unread() {
    for (line, place, words) in [
        ("-r missing.txt", "1:4", "is not there"),
        ("-c missing.txt", "1:4", "is not there"),
        ("-rmissing.txt", "1:3", "is not there"),
        ("-r ../outside.txt", "1:4", "outside"),
        ("-r /etc/hosts", "1:4", "outside"),
        ("-r https://example.com/x.txt", "1:4", "by its address"),
        ("-r FILE:///x.txt", "1:4", "by its address"),
        ("--requirement=${X}", "1:15", "is not there"),
    ] {
        is_unread("requirements.txt", line, place, words);
    }
}

#[test]
fn what_pip_would_refuse_is_unread() {
    for (line, words) in [
        ("--re x", "may be --requirement or --require-hashes"),
        ("--requirements x", "there is no option --requirements"),
        ("-x", "there is no option -x"),
        ("-r", "has no value"),
        ("--pre=1", "takes no value"),
        ("-r 'x", "no end"),
        ("these are words", "it is no requirement"),
        ("<<<<<<< HEAD", "it is no requirement"),
        ("${NAME}", "a variable of the environment"),
        ("git+https://example.com/${NAME}", "a variable of the environment"),
        ("x @ https://example.com/${FILE}", "a variable of the environment"),
        ("-e ../outside", "outside"),
        ("/opt/thing", "outside"),
        ("file:///opt/thing", "outside"),
    ] {
        is_unread("requirements.txt", line, "1:1", words);
    }
}

#[test]
fn includes_that_go_round_end_and_too_many_are_unread() {
    let round: [(&str, &[u8]); 3] = [
        ("requirements.txt", b"-r a.lst"),
        ("a.lst", b"-r b.lst\nlitellm"),
        ("b.lst", b"-r a.lst\n-r requirements.txt"),
    ];
    let reading = of_files(&round);
    assert_eq!(found(&reading).len(), 1);
    let mut files: Vec<(String, Vec<u8>)> = (0..300)
        .map(|file| (format!("{file}.lst"), format!("-r {}.lst\n", file + 1).into_bytes()))
        .collect();
    files.push(("300.lst".to_owned(), b"litellm".to_vec()));
    files.push(("requirements.txt".to_owned(), b"-r 0.lst".to_vec()));
    let borrowed: Vec<(&str, &[u8])> =
        files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let reading = of_files(&borrowed);
    assert!(found(&reading).is_empty());
    assert_eq!(unread(&reading), ["255.lst:1:4 256.lst: includes more than 256 files"]);
}

#[test]
fn a_file_that_the_walk_reads_is_not_read_twice() {
    let files: [(&str, &[u8]); 2] =
        [("requirements.txt", b"-r requirements-dev.txt"), ("requirements-dev.txt", b"litellm")];
    assert_eq!(found(&of_files(&files)), ["requirements-dev.txt:1:1 litellm Direct"]);
}

proptest! {
    /// No text makes the reader panic, and a mention's place says the name that it is of.
    #[test]
    fn places_say_the_names_that_are_found(lines in prop::collection::vec(line(), 0..12)) {
        let text = lines.concat();
        for path in ["requirements.txt", "constraints.txt"] {
            let reading = of_files(&[(path, text.as_bytes())]);
            for mention in &reading.mentions {
                let shown: String = mention.span.text().split(['\\', '\n', '\r', '\u{c}']).collect();
                let folded = shown.to_ascii_lowercase().replace(['_', '.'], "-");
                prop_assert!(folded.contains(&mention.name), "{shown:?} in {text:?}");
            }
        }
    }

    /// What stands alone on a line is found, whatever stands on the lines around it.
    #[test]
    fn other_lines_do_not_hide_a_requirement(before in "[^\\\\]{0,40}", after in ".{0,40}") {
        let mut text = before;
        writeln!(text, "\nlitellm\n{after}").unwrap();
        // A cookie of the text's own may name an encoding that is not read.
        prop_assume!(!text.contains("coding"));
        let reading = of_files(&[("requirements.txt", text.as_bytes())]);
        prop_assert!(!reading.mentions.is_empty(), "{text:?}");
    }
}

fn line() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        Just("litellm".to_owned()),
        Just("LiteLLM_Enterprise".to_owned()),
        Just("git+https://github.com/BerriAI/litellm".to_owned()),
        Just("#egg=".to_owned()),
        Just("\\\n".to_owned()),
        Just("-e ".to_owned()),
        Just("-r x".to_owned()),
        Just("'".to_owned()),
        Just(" @ ".to_owned()),
        "[ -~]{0,6}",
        "\\PC{0,4}",
        Just("\n".to_owned()),
        Just("\u{c}".to_owned()),
        Just(" # ".to_owned()),
    ];
    prop::collection::vec(parts, 0..6).prop_map(|parts| parts.concat())
}
