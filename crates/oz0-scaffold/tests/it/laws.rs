//! What holds for every command there is.

use oz0_plugin::Plugin;
use oz0_plugin::manifest::Backend;
use oz0_scaffold::{WrapError, wrap};
use proptest::prelude::*;

use crate::support::{Fixed, working, wrapping};

/// Words as people write them, and words that nobody does.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "npx",
            "uvx",
            "-y",
            "--from",
            "--",
            "-p",
            "uv",
            "run",
            "python3",
            "node",
            "env",
            "A=b",
            "cat",
            "x@1.0.0",
            "y==1.0",
            "@a/b@2.0.0",
            "--with",
            "-m",
            "docker",
            "./x",
            "..",
            "https://a.example/",
            "mcp-remote",
            "--header",
            "pipx",
            "null",
            "~",
            "yes",
            "1e3",
            "- a",
            "a: b",
            "#",
            "'",
            "\"",
            "|",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
        "[ -~]{0,12}",
        "[\\x00-\\x1f\u{7f}-\u{a0}\u{2028}\u{feff}\u{fffe}a: ]{1,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_command_gives_a_plugin_that_loads_or_a_refusal(words in prop::collection::vec(word(), 0..7)) {
        let (_folder, here) = working();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match wrap::plan(&wrapping(&here, &words), &Fixed) {
            Ok(plan) => {
                plan.write().unwrap();
                let plugin = Plugin::load(plan.folder.path()).unwrap();
                prop_assert!(plugin.manifest().is_some(), "{}", plan.manifest());
            }
            Err(WrapError::Refused(refusal)) => {
                prop_assert!(!refusal.to_string().is_empty());
                prop_assert!(std::fs::read_dir(&here).unwrap().next().is_none(), "something was written");
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }

    #[test]
    fn every_argument_and_variable_reaches_the_manifest_as_it_is(
        args in prop::collection::vec(word(), 0..6),
        value in word(),
    ) {
        let (_folder, here) = working();
        let mut words = vec!["npx", "-y", "some-mcp@1.0.0"];
        words.extend(args.iter().map(String::as_str));
        let mut wrapping = wrapping(&here, &words);
        wrapping.folder = Some(here.join("plugin"));
        wrapping.env.insert("SOME".to_owned(), value.clone());
        // These are paths of the working folder, and are written as such.
        prop_assume!(!args.iter().any(|arg| [".", "..", "./", "../"].contains(&arg.as_str())));
        match wrap::plan(&wrapping, &Fixed) {
            Ok(plan) => {
                plan.write().unwrap();
                let plugin = Plugin::load(plan.folder.path()).unwrap();
                let tool = plugin.manifest().unwrap().tools.get(&plan.name).unwrap();
                prop_assert!(matches!(tool.backend(), Backend::Package(_)));
                let got: Vec<&str> = tool.args.iter().map(|arg| arg.as_str()).collect();
                prop_assert_eq!(got, args);
                prop_assert_eq!(tool.variables().collect::<Vec<_>>(), [("SOME", value.as_str())]);
            }
            // Only what no process can be given is refused.
            Err(error) => prop_assert!(
                args.iter().chain([&value]).any(|text| text.contains('\0')),
                "{}", error
            ),
        }
    }
}
