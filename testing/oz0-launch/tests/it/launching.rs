//! Starting, stdio, and what is said when a server does not start.

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
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
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
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c"])
        .arg("echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"")
        .args(["sh", PROGRAM])
        .arg(bench.cache())
        .arg(spec)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "served\n", "{stderr}");
    assert!(stderr.contains(r#""tier":0"#), "{stderr}");
    assert!(stderr.contains("could not leave the host's namespaces"), "{stderr}");
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
        let mut spec = bench.spec(&["sh", "-c", "read line"]);
        spec.declared.insert("TOKEN".to_owned(), secret.clone());
        let running = bench.launcher(&tier).start(&spec).await.unwrap();
        let mut holders = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            for file in ["cmdline", "environ"] {
                let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
                if String::from_utf8_lossy(&bytes).contains(&secret) {
                    let line = std::fs::read(entry.path().join("cmdline")).unwrap();
                    holders.push((file, String::from_utf8_lossy(&line).contains("read line")));
                }
            }
        }
        assert_eq!(holders, [("environ", true)]);
        running.kill().await;
    }
}
