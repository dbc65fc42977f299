//! Starting, stdio, and what is said when a server does not start.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use oz0_server::{Ended, LaunchError, Launcher, StopBounds, Tier, TierChoice};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Bench, PROGRAM, output, tiers};

#[tokio::test]
async fn stdin_and_stdout_are_the_servers_own_from_the_first_byte() {
    for tier in tiers() {
        let bench = Bench::new();
        let mut running = bench.launcher(&tier).start(&bench.spec(&["cat"])).await.unwrap();
        let (mut stdin, mut stdout) = running.take_stdio().unwrap();
        let sent = vec![b'x'; 1 << 20];
        let (echoed, written) = tokio::join!(
            async {
                let mut echoed = Vec::new();
                stdout.read_to_end(&mut echoed).await.unwrap();
                echoed
            },
            async {
                stdin.write_all(&sent).await.unwrap();
                drop(stdin);
                true
            }
        );
        assert!(written && echoed == sent);
        assert_eq!(running.wait().await, Ended::Exited(0));
        assert!(running.take_stdio().is_none());
    }
}

#[tokio::test]
async fn a_flood_on_stderr_blocks_nobody_and_its_end_is_kept() {
    for tier in tiers() {
        let bench = Bench::new();
        let script = r"
import sys
for number in range(200_000): print('line', number, 'x' * 40, file=sys.stderr)
print('done')
";
        let running = bench.launcher(&tier).start(&bench.python(script)).await.unwrap();
        let stderr = running.stderr().clone();
        assert_eq!(output(running).await.trim(), "done");
        stderr.ended().await;
        assert!(stderr.total() > 9_000_000);
        assert_eq!(stderr.text().len(), 64 * 1024);
        assert!(stderr.last_lines(1).starts_with("line 199999 "));
    }
}

#[tokio::test]
async fn the_end_of_the_servers_output_is_seen_while_it_lives() {
    for tier in tiers() {
        let bench = Bench::new();
        let script = "exec 1>&-; exec 0<&-; sleep 1000";
        let spec = bench.spec(&["sh", "-c", script]);
        let mut running = bench.launcher(&tier).start(&spec).await.unwrap();
        let (mut stdin, mut stdout) = running.take_stdio().unwrap();
        let mut text = String::new();
        stdout.read_to_string(&mut text).await.unwrap();
        let mut broken = Ok(());
        for _ in 0..100 {
            broken = stdin.write_all(b"x").await;
            if broken.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(broken.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
        running.kill().await;
    }
}

#[tokio::test]
async fn a_server_starts_with_no_signal_blocked_or_ignored() {
    let script = r"
import signal
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
print([n for n in range(1, 32) if signal.getsignal(n) == signal.SIG_IGN])
";
    for tier in tiers() {
        let bench = Bench::new();
        let said = output(bench.launcher(&tier).start(&bench.python(script)).await.unwrap()).await;
        // SIGPIPE and SIGXFSZ, which Python itself ignores.
        assert_eq!(said.trim(), "set()\n[13, 25]");
    }
}

#[tokio::test]
async fn a_program_that_is_missing_or_does_not_run_is_named() {
    let mut said = Vec::new();
    for tier in tiers() {
        let bench = Bench::new();
        bench.write("plain.txt", "text");
        let script = bench.write("script", "#!/no/such/interpreter\n");
        executable(&script);
        let launcher = bench.launcher(&tier);
        for argv in [&["no-such-program"][..], &["./missing"], &["./plain.txt"], &["./script"], &[]]
        {
            let error = launcher.start(&bench.spec(argv)).await.unwrap_err();
            assert!(matches!(error, LaunchError::Program { .. }), "{error:?}");
            let text = error.to_string();
            said.push(text.split(", /").next().unwrap().to_owned());
        }
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn a_folder_that_is_missing_is_no_reason_for_another_tier() {
    let bench = Bench::new();
    let launcher = bench.launcher(&TierChoice::Best);
    let mut spec = bench.spec(&["true"]);
    spec.folder = bench.folder().join("gone");
    let error = launcher.start(&spec).await.unwrap_err();
    assert!(matches!(error, LaunchError::SetUp { .. }), "{error:?}");
    let running = launcher.start(&bench.spec(&["true"])).await.unwrap();
    assert_eq!(*running.tier(), Tier::One);
}

fn executable(path: &std::path::Path) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_mountpoint_that_was_removed_is_made_again() {
    let bench = Bench::new();
    let launcher = bench.launcher(&TierChoice::Best);
    for _ in 0..2 {
        std::fs::remove_dir_all(bench.cache()).unwrap();
        let running = launcher.start(&bench.spec(&["true"])).await.unwrap();
        assert_eq!(*running.tier(), Tier::One);
    }
    std::fs::remove_dir_all(bench.cache()).unwrap();
    std::fs::write(bench.cache(), "").unwrap();
    let error = launcher.start(&bench.spec(&["true"])).await.unwrap_err();
    assert!(matches!(error, LaunchError::Folder { .. }), "{error:?}");
}

/// `/tmp` is a server's own; the interpreter there is the user's.
#[test]
fn an_interpreter_below_a_writable_folder_is_there_and_read_only() {
    let bench = Bench::new();
    let programs = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    let python = programs.path().join("bin/python3");
    std::fs::create_dir(programs.path().join("bin")).unwrap();
    std::fs::copy("/bin/sh", &python).unwrap();
    let script = "echo served; (echo > $0) 2>/dev/null || echo kept; echo > /tmp/own && echo wrote";
    let spec = bench.spec(&["python3", "-c", script, python.to_str().unwrap()]);
    let path = std::env::join_paths([python.parent().unwrap(), "/usr/bin".as_ref()]).unwrap();
    let output = Command::new(PROGRAM)
        .arg(bench.cache())
        .arg(serde_json::to_string(&spec).unwrap())
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains(r#""tier":1"#), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "served\nkept\nwrote\n", "{stderr}");
}

/// A limit that is reached ends when another sandbox does: a start fails of it, and the next one
/// has all of tier 1.
#[test]
fn what_passes_lowers_no_servers_containment() {
    let bench = Bench::new();
    let spec = serde_json::to_string(&bench.spec(&["cat"])).unwrap();
    // Of four user namespaces, each sandbox takes two.
    let script = r#"
echo 3 > /proc/sys/user/max_user_namespaces
mkfifo "$2/stdin" "$2/ready"
"$1" "$2" "$3" < "$2/stdin" 2> "$2/ready" & exec 3> "$2/stdin" 4< "$2/ready"
read -r first <&4
second=$("$1" "$2" "$3" 2>&1 < /dev/null)
exec 3>&-; wait
# The kernel counts a namespace until a little after its last process.
for attempt in $(seq 100); do
    third=$("$1" "$2" "$3" 2>&1 < /dev/null)
    case $third in *failed*) sleep 0.05 ;; *) break ;; esac
done
echo "$first"; echo "$second"; echo "$third"
"#;
    std::fs::create_dir(bench.cache()).unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh", PROGRAM])
        .arg(bench.cache())
        .arg(spec)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = said.lines().filter(|line| !line.contains("ended")).collect();
    let [first, second, third] = lines[..] else { panic!("{said}{output:?}") };
    assert!(first.contains(r#""tier":1"#) && third.contains(r#""tier":1"#), "{said}");
    let wanted = "could not set up the sandbox: enter a second user namespace: No space left";
    assert!(second.contains(wanted), "{said}");
}

/// A sandbox that says `said` and then floods the pipe of its reports.
fn flood(bench: &Bench, said: &str) -> std::path::PathBuf {
    let script =
        format!("#!/bin/sh\nprintf '{said}' >&3\nyes | tr -d '\\n' | head -c 300000000 >&3\n");
    let program = bench.root.path().join("flood");
    std::fs::write(&program, script).unwrap();
    executable(&program);
    program
}

#[tokio::test]
async fn a_flood_of_reports_is_not_kept() {
    let bench = Bench::new();
    let ready = r#"{"ready":{"missing":[]}}\n"#;
    let launcher = |said| Launcher::new(flood(&bench, said), &bench.cache(), TierChoice::Best);
    let error = launcher("").unwrap().start(&bench.spec(&["true"])).await.unwrap_err();
    assert!(matches!(error, LaunchError::Lost { .. }), "{error:?}");
    let running = launcher(ready).unwrap().start(&bench.spec(&["true"])).await.unwrap();
    running.wait().await;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 200_000, "{kib} KiB");
}

/// What a server could claim, were the pipe open to it.
#[tokio::test]
async fn a_forged_end_does_not_change_how_a_server_ended() {
    let bench = Bench::new();
    for (code, forged, ended) in [
        (3, r#"{"ended":{"exited":0}}"#, Ended::Exited(3)),
        (3, r#"{"ended":{"signalled":9}}"#, Ended::Exited(3)),
        (137, r#"{"ended":{"exited":137}}"#, Ended::Exited(137)),
        (137, "{}", Ended::Signalled(9)),
    ] {
        let program = bench.root.path().join("forger");
        let said = format!(r#"printf '{{"ready":{{"missing":[]}}}}\n{forged}\n' >&3"#);
        std::fs::write(&program, format!("#!/bin/sh\n{said}\nexit {code}\n")).unwrap();
        executable(&program);
        let launcher = Launcher::new(&program, &bench.cache(), TierChoice::Best).unwrap();
        let running = launcher.start(&bench.spec(&["true"])).await.unwrap();
        assert_eq!(running.wait().await, ended, "{forged}");
    }
}

#[tokio::test]
async fn a_failure_that_quotes_a_long_variable_is_reported() {
    for tier in tiers() {
        let bench = Bench::new();
        let mut spec = bench.spec(&["no-such-program"]);
        spec.declared.insert("PATH".to_owned(), "\u{1}".repeat(1_000_000));
        let error = bench.launcher(&tier).start(&spec).await.unwrap_err();
        assert!(matches!(error, LaunchError::Program { .. }), "{error:?}");
        assert!(error.to_string().len() < 10_000);
    }
}

#[tokio::test]
async fn a_program_that_is_no_sandbox_is_an_error() {
    let bench = Bench::new();
    let launcher = Launcher::new("/bin/false", &bench.cache(), TierChoice::Best).unwrap();
    let error = launcher.start(&bench.spec(&["true"])).await.unwrap_err();
    assert_eq!(error.to_string(), "the sandbox ended before its server ran");
    let launcher = Launcher::new("/no/such/oz0", &bench.cache(), TierChoice::Best).unwrap();
    let error = launcher.start(&bench.spec(&["true"])).await.unwrap_err();
    assert_eq!(error.to_string(), "could not start the sandbox, /no/such/oz0");
}

#[tokio::test]
async fn a_chosen_tier_0_says_why() {
    let bench = Bench::new();
    let tier = TierChoice::Zero { reason: "OZ0_SANDBOX=0 is set".to_owned() };
    let running = bench.launcher(&tier).start(&bench.spec(&["true"])).await.unwrap();
    assert_eq!(
        running.tier().to_string(),
        "sandbox tier 0, where paths differ from machine to machine: OZ0_SANDBOX=0 is set"
    );
}

/// A user namespace that allows no further one is a kernel that refuses tier 1.
#[test]
fn a_kernel_that_refuses_user_namespaces_gets_tier_0_and_it_says_why() {
    let bench = Bench::new();
    let spec = serde_json::to_string(&bench.spec(&["echo", "served"])).unwrap();
    for (limit, kind, needed) in [(0, "user", 2), (1, "user", 2), (0, "net", 1), (0, "mnt", 1)] {
        let name = format!("max_{kind}_namespaces");
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user", "sh", "-c"])
            .arg(format!("echo {limit} > /proc/sys/user/{name} && exec \"$@\""))
            .args(["sh", PROGRAM])
            .arg(bench.cache())
            .arg(&spec)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "served\n", "{stderr}");
        assert!(stderr.contains(r#""tier":0"#), "{stderr}");
        let reason = format!("user.{name} is {limit}, and {needed} are needed");
        let wanted = format!("could not leave the host's namespaces: {reason}");
        assert!(stderr.contains(&wanted), "{stderr}");
    }
}

#[tokio::test]
async fn stopping_a_server_that_has_ended_is_quick() {
    for tier in tiers() {
        let bench = Bench::new();
        let running = bench.launcher(&tier).start(&bench.spec(&["true"])).await.unwrap();
        let started = std::time::Instant::now();
        assert_eq!(running.stop(StopBounds::default()).await, Ended::Exited(0));
        assert!(started.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_command_of_a_megabyte_starts_through_the_pipe() {
    for tier in tiers() {
        let bench = Bench::new();
        let mut spec = bench.spec(&["sh", "-c", "echo ${#A} ${#B}"]);
        for name in ["A", "B"] {
            spec.declared.insert(name.to_owned(), "y".repeat(100_000));
        }
        assert_eq!(
            output(bench.launcher(&tier).start(&spec).await.unwrap()).await.trim(),
            "100000 100000"
        );
    }
}

#[tokio::test]
async fn secrets_are_on_no_command_line_and_in_no_environment_but_the_servers() {
    for tier in tiers() {
        let bench = Bench::new();
        let secret = crate::token("secret");
        let mut spec = bench.spec(&["sh", "-c", "echo up; read line"]);
        spec.declared.insert("TOKEN".to_owned(), secret.clone());
        let mut running = bench.launcher(&tier).start(&spec).await.unwrap();
        let (_stdin, mut stdout) = running.take_stdio().unwrap();
        // Started is not executed yet: the kernel shows the server's own environment from its first line on.
        let mut line = [0; 3];
        stdout.read_exact(&mut line).await.unwrap();
        let mut holders = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            for file in ["cmdline", "environ"] {
                let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
                if String::from_utf8_lossy(&bytes).contains(&secret) {
                    let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                    holders.push((file, String::from_utf8_lossy(&line).contains("read line")));
                }
            }
        }
        assert_eq!(holders, [("environ", true)]);
        running.kill().await;
    }
}
