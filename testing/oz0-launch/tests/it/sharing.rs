//! Folders of the operator: seen where they are, and nothing beside them.

use std::path::Path;

use oz0_server::{LaunchSpec, ShareAccess, Shares, Tier, TierChoice, Variation};

use crate::{Bench, output, tiers};

const WORK: &str = r"
import os, sys
def attempt(what, path):
    try:
        what(path)
        print('did', end=' ')
    except OSError as error:
        print(type(error).__name__, end=' ')
def read(path): open(path).read()
def write(path): open(path, 'w').write('new')
def link(path): os.symlink('/etc/shadow', path)
def rename(path): os.rename(path, path + '.moved')
for arg in sys.argv[1:]:
    name, path = arg.split(':', 1)
    attempt(globals()[name], path)
print(flush=True)
";

fn shared(bench: &Bench, shares: &[(&Path, ShareAccess)], argv: &[String]) -> LaunchSpec {
    bench.write("server.py", WORK);
    let mut words = vec!["python3", "server.py"];
    words.extend(argv.iter().map(String::as_str));
    let given = shares.iter().map(|(path, access)| ((*path).to_owned(), *access));
    LaunchSpec { shares: Shares::new(given, &[]).unwrap(), ..bench.spec(&words) }
}

async fn words(bench: &Bench, tier: &TierChoice, spec: &LaunchSpec) -> (Vec<String>, Tier) {
    let running = bench.launcher(tier).start(spec).await.unwrap();
    let tier = running.tier().clone();
    (output(running).await.split_whitespace().map(str::to_owned).collect(), tier)
}

#[tokio::test]
async fn a_shared_folder_is_read_and_written_at_its_path_and_its_neighbours_are_not_there() {
    for tier in tiers() {
        for variation in [Variation::Standard, Variation::Other] {
            let bench = Bench::new();
            let (notes, books, private) = (
                bench.root.path().join("notes"),
                bench.root.path().join("books"),
                bench.root.path().join("private"),
            );
            for folder in [&notes, &books, &private] {
                std::fs::create_dir(folder).unwrap();
                std::fs::write(folder.join("old"), "old").unwrap();
            }
            let at = |what: &str, folder: &Path, name: &str| {
                format!("{what}:{}", folder.join(name).display())
            };
            let argv = [
                at("read", &notes, "old"),
                at("write", &notes, "new"),
                at("write", &notes, "old"),
                at("read", &books, "old"),
                at("write", &books, "new"),
                at("read", &private, "old"),
                at("write", &private, "new"),
            ];
            let shares = [(&*notes, ShareAccess::Write), (&*books, ShareAccess::Read)];
            let spec = LaunchSpec { variation, ..shared(&bench, &shares, &argv) };
            let (words, got) = words(&bench, &tier, &spec).await;
            let contained = got == Tier::One || landlock(&bench).await;
            if contained {
                assert_eq!(words[..4], ["did", "did", "did", "did"], "{got}");
                assert!(words[4..].iter().all(|word| word != "did"), "{got}: {words:?}");
                assert_eq!(std::fs::read_to_string(notes.join("new")).unwrap(), "new");
                assert_eq!(std::fs::read_to_string(notes.join("old")).unwrap(), "new");
                assert!(!books.join("new").exists() && !private.join("new").exists());
            }
        }
    }
}

/// Whether tier 0 contains files here.
async fn landlock(bench: &Bench) -> bool {
    let tier = TierChoice::Zero { reason: "a test asks for it".to_owned() };
    let running = bench.launcher(&tier).start(&bench.spec(&["true"])).await.unwrap();
    let complete = running.missing().iter().all(|one| one.layer != oz0_server::Layer::Landlock);
    output(running).await;
    complete
}

#[tokio::test]
async fn a_folder_that_is_named_by_a_link_is_seen_by_both_names() {
    let bench = Bench::new();
    let (real, link) = (bench.root.path().join("real"), bench.root.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::fs::write(real.join("old"), "").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let argv = [format!("read:{}/old", real.display()), format!("write:{}/new", link.display())];
    for tier in tiers() {
        let spec = shared(&bench, &[(&link, ShareAccess::Write)], &argv);
        assert_eq!(words(&bench, &tier, &spec).await.0, ["did", "did"]);
    }
}

#[tokio::test]
async fn a_link_that_took_a_shared_folders_place_since_it_was_checked_is_not_followed() {
    let bench = Bench::new();
    let (folder, other) = (bench.root.path().join("folder"), bench.root.path().join("other"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(&other).unwrap();
    let spec = shared(&bench, &[(&folder, ShareAccess::Read)], &[]);
    std::fs::remove_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&other, &folder).unwrap();
    let error = bench.launcher(&TierChoice::Best).start(&spec).await.map(|_| ()).unwrap_err();
    assert!(error.to_string().contains(&format!("share {}", folder.display())), "{error}");
}

#[tokio::test]
async fn a_folder_that_may_be_written_in_one_that_may_be_read() {
    let bench = Bench::new();
    let (outer, inner) = (bench.root.path().join("outer"), bench.root.path().join("outer/inner"));
    std::fs::create_dir_all(&inner).unwrap();
    let shares = [(&*outer, ShareAccess::Read), (&*inner, ShareAccess::Write)];
    let argv = [format!("write:{}/new", inner.display()), format!("rename:{}", inner.display())];
    let spec = shared(&bench, &shares, &argv);
    let (words, got) = words(&bench, &TierChoice::Best, &spec).await;
    assert_eq!(words[0], "did", "{got}");
    if got == Tier::One {
        assert_ne!(words[1], "did");
    }
}
