//! The same surroundings everywhere, and the others of the second look.

use std::collections::BTreeMap;

use oz0_server::{FolderAccess, Variation};

use crate::{Bench, output, tiers};

/// Everything of its surroundings that a server can easily see.
const LOOK: &str = r"
import json, os, sys, time
seen = {
    'environment': dict(sorted(os.environ.items())),
    'folder': os.getcwd(),
    'files': sorted(os.listdir('.')),
    'home': sorted(os.listdir(os.environ['HOME'])),
    'scratch': sorted(os.listdir(os.environ['TMPDIR'])),
    'umask': oct(os.umask(0)),
    'zone': time.tzname,
    'user': [os.getuid(), os.getgid()],
    'host': os.uname().nodename if os.environ['HOME'].startswith('/oz0') else '-',
    'descriptors': sorted(int(n) for n in os.listdir('/proc/self/fd'))[:3],
    'open': len(os.listdir('/proc/self/fd')),
    'session': os.getsid(0) != 0 or 'outside',
    'terminal': os.path.exists('/dev/tty'),
}
del seen['host']
print(json.dumps(seen, indent=1))
";

#[tokio::test]
async fn a_server_sees_these_variables_and_paths_and_no_others() {
    let bench = Bench::new();
    let [tier, _] = tiers();
    let launcher = bench.launcher(&tier);
    let mut spec = bench.python(LOOK);
    spec.declared = BTreeMap::from([("LOG_LEVEL".to_owned(), "info".to_owned())]);
    let standard = output(launcher.start(&spec).await.unwrap()).await;
    insta::assert_snapshot!("standard", standard);
    spec.variation = Variation::Other;
    let other = output(launcher.start(&spec).await.unwrap()).await;
    insta::assert_snapshot!("other", other);
}

#[tokio::test]
async fn two_starts_from_different_folders_see_the_same() {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let bench = Bench::new();
        let [tier, _] = tiers();
        seen.push(output(bench.launcher(&tier).start(&bench.python(LOOK)).await.unwrap()).await);
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn tier_0_has_the_same_variables_at_other_paths() {
    let bench = Bench::new();
    let [one, zero] = tiers();
    let names = "import os; print(sorted(os.environ), os.environ['TZ'], os.umask(0))";
    let spec = bench.python(names);
    let first = output(bench.launcher(&one).start(&spec).await.unwrap()).await;
    let second = output(bench.launcher(&zero).start(&spec).await.unwrap()).await;
    assert_eq!(first, second);
    assert!(first.contains("UTC 18"), "{first}");
}

#[tokio::test]
async fn a_declared_variable_wins_over_the_surroundings() {
    for tier in tiers() {
        let bench = Bench::new();
        let mut spec = bench.spec(&["sh", "-c", "echo $TZ"]);
        spec.declared.insert("TZ".to_owned(), "Europe/Vienna".to_owned());
        let seen = output(bench.launcher(&tier).start(&spec).await.unwrap()).await;
        assert_eq!(seen.trim(), "Europe/Vienna");
    }
}

#[tokio::test]
async fn home_and_scratch_are_empty_at_every_start() {
    for tier in tiers() {
        let bench = Bench::new();
        let script =
            "ls -A $HOME $TMPDIR | grep -v : ; touch $HOME/kept $TMPDIR/kept && echo wrote";
        let spec = bench.spec(&["sh", "-c", script]);
        let launcher = bench.launcher(&tier);
        for _ in 0..2 {
            let seen = output(launcher.start(&spec).await.unwrap()).await;
            assert_eq!(seen.trim(), "wrote");
        }
    }
}

#[tokio::test]
async fn a_copied_folder_cannot_be_written_and_one_in_place_can() {
    for tier in tiers() {
        let bench = Bench::new();
        let mut spec = bench.spec(&["sh", "-c", "touch here && echo wrote; true"]);
        let launcher = bench.launcher(&tier);
        assert_eq!(output(launcher.start(&spec).await.unwrap()).await, "");
        spec.folder_access = FolderAccess::InPlace;
        assert_eq!(output(launcher.start(&spec).await.unwrap()).await.trim(), "wrote");
        assert!(bench.folder().join("here").is_file());
    }
}
