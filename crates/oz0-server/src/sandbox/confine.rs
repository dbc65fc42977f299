//! The rights that a sandbox gives up, one layer at a time.
//!
//! Each function does what the kernel lets it do, looks at what it really obtained, and names what
//! is missing: a layer that fails quietly is worse than none.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::protocol::{Failure, Layer, MissingLayer};
use super::wiring::unavailable;

/// The user and group that a server runs as inside its sandbox.
const INSIDE: u32 = 1000;

/// Open files of one process. A server that wants more is refused more than the usual hard limit.
const OPEN_FILES: u64 = 4096;
/// Processes and threads of one server.
const PROCESSES: u64 = 1024;
/// One file that a server writes: 4 GiB.
const FILE_SIZE: u64 = 4 << 30;

fn missing(layer: Layer, reason: impl std::fmt::Display) -> MissingLayer {
    MissingLayer { layer, reason: format!("{reason}") }
}

/// Maps one user and one group, `(inside, outside)`, of the user namespace just entered.
pub(crate) fn map_ids(user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    // Needed before a group may be mapped without privilege.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{} {} 1\n", group.0, group.1))?;
    fs::write("/proc/self/uid_map", format!("{} {} 1\n", user.0, user.1))
}

/// Enters a second user namespace, in which this process is an ordinary user. What it could do to
/// the mounts, as root of the first, it can no longer do, and what it starts has no capability at
/// all, since an ordinary user's are dropped on `exec`.
pub(crate) fn leave_root() -> Result<(), Failure> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)
        .map_err(|error| unavailable("enter a second user namespace")(error.into()))?;
    map_ids((INSIDE, 0), (INSIDE, 0)).map_err(unavailable("map the server's user"))
}

/// Drops every capability, also those that a program started by root would have again, and looks.
pub(crate) fn drop_capabilities() -> Option<MissingLayer> {
    // The bounding set, which needs a right that only a privileged process has.
    for capability in CapabilitySet::all().iter() {
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    let _ = rustix::thread::clear_ambient_capability_set();
    if let Err(error) = rustix::thread::set_capabilities(None, none) {
        return Some(missing(Layer::Capabilities, error));
    }
    let again = rustix::process::geteuid().is_root()
        && CapabilitySet::all()
            .iter()
            .any(|one| rustix::thread::capability_is_in_bounding_set(one).unwrap_or(false));
    match rustix::thread::capabilities(None) {
        Ok(sets) if sets.permitted.is_empty() && sets.effective.is_empty() && !again => None,
        Ok(_) => Some(missing(Layer::Capabilities, "some are left")),
        Err(error) => Some(missing(Layer::Capabilities, error)),
    }
}

/// No program gains rights by its set-user-ID bit from here on.
pub(crate) fn forbid_new_privileges() -> Option<MissingLayer> {
    let _ = rustix::thread::set_no_new_privs(true);
    match rustix::thread::no_new_privs() {
        Ok(true) => None,
        Ok(false) => Some(missing(Layer::Capabilities, "no_new_privs did not take")),
        Err(error) => Some(missing(Layer::Capabilities, error)),
    }
}

/// Limits on resources. There is none on address space, which V8 reserves by the terabyte, and
/// one on processes only where they are counted for this sandbox alone.
pub(crate) fn limits(counted_alone: bool) -> Option<MissingLayer> {
    let mut wanted = vec![
        (Resource::Core, 0, "core dumps"),
        (Resource::Nofile, OPEN_FILES, "open files"),
        (Resource::Fsize, FILE_SIZE, "file size"),
    ];
    if counted_alone {
        wanted.push((Resource::Nproc, PROCESSES, "processes"));
    }
    let refused: Vec<String> = wanted
        .into_iter()
        .filter_map(|(resource, limit, name)| {
            let allowed = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let limit = Some(limit.min(allowed));
            setrlimit(resource, Rlimit { current: limit, maximum: limit })
                .err()
                .map(|error| format!("{name}: {error}"))
        })
        .collect();
    (!refused.is_empty()).then(|| missing(Layer::Limits, refused.join(", ")))
}

/// What a server may do with files.
#[derive(Debug, Default)]
pub(crate) struct FileRules {
    /// Read and execute, below these.
    pub(crate) read: Vec<PathBuf>,
    /// Everything, below these.
    pub(crate) write: Vec<PathBuf>,
}

/// Landlock: files by `rules`, TCP only if `tcp`, and no signal or abstract socket to a process
/// outside.
pub(crate) fn landlock(rules: &FileRules, tcp: bool) -> Option<MissingLayer> {
    let abi = ABI::V6;
    let restrict = || -> Result<RulesetStatus, landlock::RulesetError> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))?
            .scope(Scope::from_all(abi))?;
        if !tcp {
            ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
        }
        let status = ruleset
            .create()?
            .add_rules(path_beneath_rules(&rules.read, AccessFs::from_read(abi)))?
            .add_rules(path_beneath_rules(&rules.write, AccessFs::from_all(abi)))?
            .restrict_self()?;
        Ok(status.ruleset)
    };
    match restrict() {
        Ok(RulesetStatus::FullyEnforced) => None,
        Ok(RulesetStatus::PartiallyEnforced) => {
            Some(missing(Layer::Landlock, "the kernel knows only some of its rules"))
        }
        Ok(RulesetStatus::NotEnforced) => {
            Some(missing(Layer::Landlock, "the kernel does not have it, or not enabled"))
        }
        Err(error) => Some(missing(Layer::Landlock, error)),
    }
}

/// The families of sockets that a server may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Unix, IPv4, IPv6 and netlink (which lists interfaces). Not `AF_VSOCK`, which no network
    /// namespace contains, nor raw packets.
    Internet,
    /// Unix and netlink: for a server without network where no namespace takes it away.
    Local,
}

/// System calls that a server has no business with: they change the machine, look into other
/// processes, or are where the kernel's own faults have been.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// System calls of one architecture only.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// System calls that programs try first and do without where the kernel is too old to have them,
/// so that is what they are told. The flags of `clone3` are behind a pointer, which a filter
/// cannot follow; `clone`'s are not.
const UNKNOWN: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
];

/// The bit that makes a number one of the x32 interface, which a filter sees as the same
/// architecture and must therefore name as well.
#[cfg(target_arch = "x86_64")]
const SECOND_INTERFACE: Option<libc::c_long> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SECOND_INTERFACE: Option<libc::c_long> = None;

/// Calls whose numbers differ in the x32 interface: `ptrace`, `kexec_load`, `process_vm_readv` and
/// `process_vm_writev`.
const OTHER_NUMBERS: [libc::c_long; 4] = [521, 528, 539, 540];

/// Installs the filter of system calls, which every descendant inherits.
pub(crate) fn seccomp(sockets: Sockets) -> Option<MissingLayer> {
    match install(sockets) {
        Ok(()) => None,
        Err(error) => Some(missing(Layer::Seccomp, error)),
    }
}

fn install(sockets: Sockets) -> Result<(), Box<dyn std::error::Error>> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let program = |rules: Rules, errno: i32| -> Result<BpfProgram, seccompiler::BackendError> {
        let errno = SeccompAction::Errno(errno.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, errno, architecture)?.try_into()
    };
    // The last filter first: each is checked for every call, and none of them may be refused
    // `seccomp` itself.
    seccompiler::apply_filter(&program(unknown_calls(), libc::ENOSYS)?)?;
    seccompiler::apply_filter(&program(refused_calls(sockets)?, libc::EPERM)?)?;
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn unknown_calls() -> Rules {
    let mut rules = Rules::new();
    for number in UNKNOWN {
        insert(&mut rules, *number, Vec::new());
    }
    rules
}

fn refused_calls(sockets: Sockets) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    for number in REFUSED.iter().chain(REFUSED_HERE) {
        insert(&mut rules, *number, Vec::new());
    }
    if let Some(bit) = SECOND_INTERFACE {
        for number in OTHER_NUMBERS {
            rules.insert(number | bit, Vec::new());
        }
    }
    let namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    let mut clones = Vec::new();
    for shift in 0..32 {
        let flag = 1_u64 << shift;
        if u64::from(namespaces.cast_unsigned()) & flag != 0 {
            clones.push(rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)])?);
        }
    }
    insert(&mut rules, libc::SYS_clone, clones);
    // Characters put into a terminal as if they were typed there.
    let typed = rule(&[(1, SeccompCmpOp::Eq, libc::TIOCSTI)])?;
    insert(&mut rules, libc::SYS_ioctl, vec![typed]);
    let mut families = vec![libc::AF_UNIX, libc::AF_NETLINK];
    if sockets == Sockets::Internet {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let none_of_them: Vec<_> = families
        .iter()
        .map(|family| (0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect();
    insert(&mut rules, libc::SYS_socket, vec![rule(&none_of_them)?]);
    Ok(rules)
}

fn insert(rules: &mut Rules, number: libc::c_long, conditions: Vec<SeccompRule>) {
    if let Some(bit) = SECOND_INTERFACE {
        rules.insert(number | bit, conditions.clone());
    }
    rules.insert(number, conditions);
}

fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions
        .iter()
        .map(|(argument, operator, value)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
        })
        .collect::<Result<_, _>>()?;
    SeccompRule::new(conditions)
}

/// Raises `lo`, which is down in a new network namespace: servers that talk to themselves over
/// 127.0.0.1 find it as everywhere else.
pub(crate) fn raise_loopback() -> Option<MissingLayer> {
    raise().err().map(|error| missing(Layer::Loopback, error))
}

fn raise() -> io::Result<()> {
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // struct nlmsghdr: length, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, sequence, port; then
    // struct ifinfomsg: family, padding, type, index (`lo` is always the first), flags, change.
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(5_u16.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    message.extend([0, 0]);
    message.extend(0_u16.to_ne_bytes());
    message.extend(1_i32.to_ne_bytes());
    message.extend(libc::IFF_UP.to_ne_bytes());
    message.extend(libc::IFF_UP.to_ne_bytes());
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 64];
    let (length, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    // An acknowledgement is an error message whose error is 0, right after its header.
    match answer.get(16..20).filter(|_| length >= 20).and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => match i32::from_ne_bytes(bytes) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}
