//! What a server cannot reach.

use oz0_server::Tier;

use crate::{Bench, output, tiers};

async fn says(bench: &Bench, script: &str, tier: usize, network: bool) -> String {
    let tier = &tiers()[tier];
    let mut spec = bench.python(script);
    spec.network = network;
    let running = bench.launcher(tier).start(&spec).await.unwrap();
    let stderr = running.stderr().clone();
    let said = output(running).await;
    stderr.ended().await;
    assert_eq!(stderr.text(), "", "the script itself failed");
    said.trim().to_owned()
}

#[tokio::test]
async fn every_layer_holds_on_this_kernel_and_is_said() {
    let bench = Bench::new();
    for (index, tier) in tiers().iter().enumerate() {
        let running = bench.launcher(tier).start(&bench.spec(&["true"])).await.unwrap();
        assert_eq!(*running.tier() == Tier::One, index == 0);
        assert_eq!(running.missing(), []);
    }
}

#[tokio::test]
async fn the_users_home_and_the_hosts_secrets_are_out_of_reach() {
    let bench = Bench::new();
    let secret = tempfile::NamedTempFile::new_in(std::env::home_dir().unwrap()).unwrap();
    let paths = [secret.path().to_str().unwrap(), "/etc/shadow", "/run", "/var", "/sys/kernel"];
    let script = format!(
        r"
import os
for path in {paths:?}:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path)
        print('reached', path)
    except OSError: pass
print('done')
"
    );
    assert_eq!(says(&bench, &script, 0, false).await, "done");
    // Without a mount namespace, the system's own files are where they are; homes are not.
    let script = script.replace("'/etc/shadow', ", "").replace("\"/etc/shadow\", ", "");
    assert_eq!(says(&bench, &script, 1, false).await, "done");
}

const SOCKETS: &str = r"
import socket
def attempt(name, what):
    try: what(); print(name, 'yes')
    except OSError as error: print(name, 'no')
def loopback():
    server = socket.create_server(('127.0.0.1', 0))
    socket.create_connection(server.getsockname()).close()
def outside():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(('192.0.2.1', 9))
attempt('loopback', loopback)
attempt('outside', outside)
attempt('unix', lambda: socket.socketpair())
attempt('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
";

#[tokio::test]
async fn a_server_without_network_has_its_own_loopback_at_most() {
    let bench = Bench::new();
    assert_eq!(
        says(&bench, SOCKETS, 0, false).await,
        "loopback yes\noutside no\nunix yes\nvsock no\npacket no"
    );
    assert_eq!(
        says(&bench, SOCKETS, 1, false).await,
        "loopback no\noutside no\nunix yes\nvsock no\npacket no"
    );
}

#[tokio::test]
async fn a_server_with_network_reaches_the_hosts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let bench = Bench::new();
    let script =
        format!("import socket; socket.create_connection(('127.0.0.1', {port})); print('reached')");
    for tier in [0, 1] {
        assert_eq!(says(&bench, &script, tier, true).await, "reached");
    }
}

/// Each of them succeeds, or fails otherwise than by EPERM and ENOSYS, for a process that no
/// filter holds: so this is the filter.
const CALLS: &str = r"
import ctypes, errno, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
numbers = {
    'x86_64': dict(unshare=272, ptrace=101, bpf=321, keyctl=250, userfaultfd=323, clone3=435,
                   io_uring_setup=425, mount=165, kexec_load=246, perf_event_open=298,
                   x32_unshare=0x40000000 | 272, x32_ptrace=0x40000000 | 521),
    'aarch64': dict(unshare=97, ptrace=117, bpf=280, keyctl=219, userfaultfd=282, clone3=435,
                    io_uring_setup=425, mount=40, kexec_load=104, perf_event_open=241),
}[platform.machine()]
for name, number in numbers.items():
    ctypes.set_errno(0)
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    print(name, errno.errorcode.get(ctypes.get_errno(), result))
NEWUSER = 0x10000000
ctypes.set_errno(0)
clone = {'x86_64': 56, 'aarch64': 220}[platform.machine()]
if (child := libc.syscall(clone, NEWUSER | 17, 0, 0, 0, 0)) == 0: libc._exit(0)
print('clone', errno.errorcode.get(ctypes.get_errno(), child))
";

#[tokio::test]
async fn calls_that_servers_have_no_business_with_are_refused() {
    let bench = Bench::new();
    for tier in [0, 1] {
        for line in says(&bench, CALLS, tier, false).await.lines() {
            let (name, errno) = line.split_once(' ').unwrap();
            let wanted =
                if ["clone3", "io_uring_setup"].contains(&name) { "ENOSYS" } else { "EPERM" };
            assert_eq!(errno, wanted, "{name}");
        }
    }
}

#[tokio::test]
async fn a_server_cannot_see_or_signal_what_is_outside() {
    let bench = Bench::new();
    let mut neighbour = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let script = format!(
        r"
import os
try:
    os.kill({pid}, 9); print('signalled')
except OSError: print('no')
try:
    open('/proc/{pid}/environ').read(); print('read')
except OSError: print('no')
",
        pid = neighbour.id()
    );
    for tier in [0, 1] {
        assert_eq!(says(&bench, &script, tier, false).await, "no\nno");
    }
    assert_eq!(neighbour.try_wait().unwrap(), None);
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
}

#[tokio::test]
async fn a_server_cannot_kill_its_sandbox() {
    // Whatever it does to them, its sandbox sees its end.
    let script = r"
import os, signal
for pid in [p for p in os.listdir('/proc') if p.isdigit()]:
    try: line = open(f'/proc/{pid}/cmdline').read()
    except OSError: continue
    if '__sandbox\0outer' in line:
        try: os.kill(int(pid), signal.SIGKILL); print('killed')
        except OSError: pass
try: os.kill(1, signal.SIGKILL)
except OSError: pass
print('alive')
";
    let bench = Bench::new();
    for tier in [0, 1] {
        assert_eq!(says(&bench, script, tier, false).await, "alive");
    }
}

#[tokio::test]
async fn the_machines_own_knobs_cannot_be_turned() {
    let script = r"
import os
for path in ['/proc/sys/kernel/core_pattern', '/proc/sys/vm/overcommit_memory', '/proc/sysrq-trigger']:
    try: open(path, 'w'); print('opened', path)
    except OSError: pass
try: os.mkdir('/made'); print('made')
except OSError: pass
print('done')
";
    let bench = Bench::new();
    for tier in [0, 1] {
        assert_eq!(says(&bench, script, tier, false).await, "done");
    }
}

#[tokio::test]
async fn limits_hold() {
    let script = r"
import resource
print(resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 4096,
      resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_AS)[0] == -1)
";
    let bench = Bench::new();
    for tier in [0, 1] {
        assert_eq!(says(&bench, script, tier, false).await, "True (0, 0) True");
    }
}
