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

/// A server sees modes, and the shell that oz0 was called from is none of its surroundings.
#[test]
fn the_callers_umask_changes_nothing_that_a_server_sees() {
    let look = r"
import os
home = os.environ['HOME']
shown = [home, os.environ['TMPDIR'], os.path.dirname(home) if home != '/oz0/home' else '/']
shown += [os.path.join(*step) for step in [('/', 'oz0'), ('/', 'oz0', 'bin'), ('/', 'etc', 'passwd')]]
shown += [path for path in os.environ['PATH'].split(':') if '/oz0' in path]
print([oct(os.stat(path).st_mode) for path in shown if os.path.exists(path)], oct(os.umask(0)))
";
    for tier in tiers() {
        let seen = ["0000", "0022", "0077"].map(|umask| {
            let bench = Bench::new();
            let spec = serde_json::to_string(&bench.python(look)).unwrap();
            let mut command = std::process::Command::new("sh");
            command.args(["-c", "umask $0; exec \"$@\"", umask, crate::PROGRAM]);
            command.arg(bench.cache()).arg(spec);
            if let oz0_server::TierChoice::Zero { reason } = &tier {
                command.arg(reason);
            }
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        });
        assert!(seen[0].contains("0o40755") && seen[0].contains("0o22"), "{seen:?}");
        assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
    }
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

/// An environment comes without bytecode, and Python would keep it beside the source.
#[tokio::test]
async fn python_without_bytecode_runs_quietly_and_keeps_none() {
    for tier in tiers() {
        let bench = Bench::new();
        let environment = bench.root.path().join("environment");
        let script = r"
import os, sys
programs = os.environ['PATH'].split(':')[0]
sys.path.append(os.path.dirname(programs) + '/packages')
import locked.part, beside
print(sys.dont_write_bytecode, locked.part.name, beside.name)
";
        let mut spec = bench.python(script);
        bench.write("beside.py", "name = 'beside'");
        std::fs::create_dir_all(environment.join("packages/locked")).unwrap();
        std::fs::create_dir(environment.join("bin")).unwrap();
        std::fs::write(environment.join("packages/locked/part.py"), "name = 'part'").unwrap();
        spec.python_environment = Some(environment.clone());
        let running = bench.launcher(&tier).start(&spec).await.unwrap();
        let stderr = running.stderr().clone();
        assert_eq!(output(running).await.trim(), "False part beside");
        stderr.ended().await;
        assert_eq!(stderr.text(), "");
        assert_eq!(std::fs::read_dir(environment.join("packages/locked")).unwrap().count(), 1);
        assert_eq!(std::fs::read_dir(bench.folder()).unwrap().count(), 2);
    }
}

#[tokio::test]
async fn a_copied_folder_cannot_be_written_and_one_in_place_can() {
    for tier in tiers() {
        let bench = Bench::new();
        let mut spec = bench.spec(&["sh", "-c", "touch here && echo wrote; true"]);
        let launcher = bench.launcher(&tier);
        assert_eq!(output(launcher.start(&spec).await.unwrap()).await, "");
        spec.folder_access = FolderAccess::Write;
        assert_eq!(output(launcher.start(&spec).await.unwrap()).await.trim(), "wrote");
        assert!(bench.folder().join("here").is_file());
    }
}
