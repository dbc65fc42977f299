//! An edge and its nodes that end in the middle of something, or have no room: nothing is lost, and all of it mends itself.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::apart::Machines;
use crate::running::{Running, eventually};

/// What is killed in one round of the test below.
const VICTIMS: [&str; 6] = ["edge", "berlin", "paris", "edge", "berlin", "nobody"];

#[test]
fn kills_in_the_middle_of_installs_lose_nothing() {
    let machines = Machines::new();
    let (mut edge, url) = machines.edge("127.0.0.1:0");
    let listen = url.trim_start_matches("http://").to_owned();
    for node in ["berlin", "paris"] {
        machines.join(node, &url);
    }
    let mut berlin = machines.node("berlin").0;
    let mut paris = machines.node("paris").0;
    for (round, victim) in VICTIMS.into_iter().enumerate() {
        let version = format!("1.0.{round}");
        let team = machines.team(&version, &version, &format!(" in round {round}"));
        let install = ["plugin", "install", "--yes", team.to_str().expect("a path")];
        let mut child = machines
            .oz0("edge", &install)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("oz0 starts");
        // Somewhere in it: what is hit is another step in each run, and none of them may matter.
        let mut moment = [0];
        getrandom(&mut moment);
        sleep(Duration::from_millis(u64::from(moment[0]) * 2));
        match victim {
            "edge" => {
                edge.kill();
                edge = machines.edge(&listen).0;
            }
            "berlin" => {
                berlin.kill();
                berlin = machines.node("berlin").0;
            }
            "paris" => {
                paris.kill();
                paris = machines.node("paris").0;
            }
            _ => {}
        }
        if !child.wait().expect("it ends").success() {
            let again = machines.install_with(&team, &["--yes"]);
            assert_eq!(again.code, Some(0), "round {round}, {victim}: {}", again.all());
        }
        for node in ["berlin", "paris"] {
            machines.callable_on(node);
        }
        let plugins = machines.json("edge", &["plugin", "list", "--json"]);
        assert_eq!(plugins["plugins"][0]["version"], version, "{victim}: {plugins}");
        assert_eq!(plugins["plugins"][0]["changes"], serde_json::json!([]), "{victim}: {plugins}");
    }
    let checked = machines.json("edge", &["audit", "verify", "--json"]);
    assert_eq!(checked["faults"], serde_json::json!([]), "{checked}");
    drop((berlin, paris, edge));
}

fn getrandom(bytes: &mut [u8]) {
    use std::io::Read as _;
    let mut source = fs::File::open("/dev/urandom").expect("the system's randomness");
    source.read_exact(bytes).expect("it gives some");
}

#[test]
fn a_bundle_that_does_not_fit_is_said_and_fetched_again() {
    let machines = Machines::new();
    let (_edge, url) = machines.edge("127.0.0.1:0");
    machines.join("berlin", &url);
    let team = machines.team("team", "1.0.0", "");
    // What a limit of 64 KiB a file leaves no room for.
    fs::write(team.join("large.txt"), vec![b'x'; 1 << 20]).expect("it can be written");
    machines.install(&team);
    let flags = ["node", "--json", "--mcp-listen", "127.0.0.1:0", "--verify-every", "0"];
    let command = machines.oz0("berlin", &flags);
    let limited = limited(&command, 64 << 10);
    {
        let _berlin = Running::start(&mut { limited });
        let failure = eventually("its bundle does not fit", || {
            let listed = machines.json("edge", &["plugin", "list", "--json"]);
            let failure = listed["plugins"][0]["tools"][0]["nodes"][0]["failure"].clone();
            failure.as_str().map(str::to_owned)
        });
        assert!(failure.contains("File too large"), "{failure}");
        assert!(failure.contains("large.txt"), "{failure}");
        // It is tried again and again, and each time what did not fit is taken away.
        eventually("half a bundle takes no room", || {
            let bundles = machines.path("berlin/joined/bundles");
            let left = fs::read_dir(bundles).expect("the folder is there");
            (left.count() == 0).then_some(())
        });
    }
    let (_berlin, _) = machines.node("berlin");
    machines.callable_on("berlin");
}

/// A command under a limit on the size of each file that it writes, as a full disk sets one.
fn limited(command: &Command, bytes: u64) -> Command {
    let mut limited = Command::new("sh");
    // The signal that comes with the limit is ignored, so that a write fails as it does on a full disk.
    limited.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\""]);
    limited.arg((bytes / 512).to_string()).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}
