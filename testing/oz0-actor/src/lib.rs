//! Where the scripted server's program is, for the tests that start it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The path of the `oz0-actor` program, built if it is not up to date.
///
/// Cargo builds a program only for its own package's tests, so the tests of other packages ask for it here. It is
/// built once a test process, beside the test itself: same target folder, same profile.
///
/// # Panics
///
/// When Cargo cannot build it: there is no test without it.
pub fn binary() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let test = std::env::current_exe().expect("a test knows its own path");
            // …/<target>/<profile>/deps/<test>
            let profile = test.ancestors().nth(2).expect("a test stands in <profile>/deps");
            let target = profile.parent().expect("a profile stands in the target folder");
            let name = match profile.file_name().and_then(|name| name.to_str()) {
                None | Some("debug") => "dev",
                Some(name) => name,
            };
            let built = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--locked", "--package", "oz0-actor", "--profile", name])
                .arg("--target-dir")
                .arg(target)
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status()
                .expect("Cargo runs");
            assert!(built.success(), "oz0-actor did not build");
            profile.join("oz0-actor")
        })
        .clone()
}
