//! The root that a server sees.
//!
//! A tmpfs that holds nothing but what is put there: the host's system directories, read-only; the
//! few files of `/etc` that libraries need, the host's own for what differs by machine
//! (certificates, the linker's cache) and ours for what must not (`/etc/passwd`, `/etc/hosts`); a
//! fresh `/proc`, a `/dev` of five devices; the plugin's folder, its locked environment and the
//! interpreters; empty writable directories; and the folders that the operator shares. Otherwise no
//! home of a user, no `/run`, no `/var`, no socket of the host.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, mount_remount, unmount,
};

use super::confine::FileRules;
use super::protocol::{Failure, FolderAccess, Interpreter, Layer, MissingLayer, Order};
use super::wiring::{broken, refused};
use crate::share::{Share, ShareAccess, Shares};
use crate::surroundings::{
    INTERPRETERS, NODE_ENVIRONMENT, PYTHON_ENVIRONMENT, Places, SYSTEM_PROGRAMS, Variation,
};

/// What a host calls its system, as far as it has them.
pub(crate) const SYSTEM: [&str; 11] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu",
    "/System",
];

/// The files of the host's `/etc` that a library reads and that hold nobody's secret.
const SETTINGS: [&str; 11] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "mime.types",
    "protocols",
    "services",
];

/// What of the host's TLS settings is public: not the private keys beside the certificates.
const CERTIFICATES: [&str; 7] = [
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
];

/// The files of `/etc` that tier 1 writes itself, and tier 0 shows as the host has them: who is
/// who, and where names are looked up. They are public on every system.
const NAMES: [&str; 8] = [
    "gai.conf",
    "group",
    "host.conf",
    "hosts",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "resolv.conf",
];

/// The part of an interpreter's prefix that it needs to run.
const PREFIX_PARTS: [&str; 6] = ["bin", "lib", "lib64", "libexec", "ssl", "openssl"];

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// What `/proc` shows of the machine, or lets its owner change: hidden or made read-only.
const MACHINE: [&str; 8] =
    ["acpi", "kcore", "keys", "kmsg", "sysrq-trigger", "timer_list", "scsi", "sched_debug"];
const MACHINE_READABLE: [&str; 4] = ["bus", "fs", "irq", "sys"];

/// The bytes that a server may keep in each of its writable directories; they are in memory.
const SCRATCH: &str = "mode=0755,size=1g";

/// Builds the root and makes it this process's own.
pub(crate) fn build(order: &Order, places: &Places) -> Result<Vec<MissingLayer>, Failure> {
    let root = Builder { root: &order.mountpoint };
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| refused("make mounts private")(error.into()))?;
    // The mount point may lie above what has to be bound; only a directory of its own does not.
    mount(
        "oz0",
        root.root,
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV,
        Some(c"mode=0755,size=16m"),
    )
    .map_err(|error| refused("mount a root")(error.into()))?;
    root.system()?;
    root.settings(order.network)?;
    root.devices()?;
    root.writable(order, places)?;
    // After the writable directories: an interpreter may lie below one of them, such as `/tmp`.
    root.interpreters(order)?;
    root.plugin(order, places)?;
    root.shares(&order.shares)?;
    let masked = root.proc()?;
    root.seal(&writable(order, places), &order.shares)?;
    root.enter()?;
    Ok(masked.into_iter().collect())
}

/// The directories that a server of tier 1 may write to.
fn writable(order: &Order, places: &Places) -> Vec<PathBuf> {
    let mut writable: Vec<PathBuf> =
        vec![places.home.clone(), places.scratch.clone(), "/tmp".into(), "/dev/shm".into()];
    if order.folder_access == FolderAccess::Write {
        writable.push(places.folder.clone());
    }
    writable.sort();
    writable.dedup();
    writable
}

/// The paths of shared folders that may be written.
fn written(shares: &Shares) -> impl Iterator<Item = &Path> {
    shares.iter().filter(|share| share.access() == ShareAccess::Write).flat_map(Share::places)
}

/// What Landlock allows in tier 1, where the root holds only what may be read.
pub(crate) fn fixed_rules(order: &Order, places: &Places) -> FileRules {
    let mut write = writable(order, places);
    write.extend(DEVICES.iter().map(|name| Path::new("/dev").join(name)));
    write.extend(written(&order.shares).map(Path::to_owned));
    FileRules { read: vec!["/".into()], write }
}

struct Builder<'a> {
    root: &'a Path,
}

impl Builder<'_> {
    /// Where an absolute path of the new root is until it is entered.
    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn directory(&self, path: impl AsRef<Path>) -> Result<PathBuf, Failure> {
        let target = self.at(&path);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&target)
            .map_err(broken(format!("create {} in the root", path.as_ref().display())))?;
        Ok(target)
    }

    fn file(&self, path: impl AsRef<Path>, text: &str) -> Result<PathBuf, Failure> {
        let path = path.as_ref();
        self.directory(path.parent().unwrap_or(Path::new("/")))?;
        let target = self.at(path);
        fs::write(&target, text)
            .map_err(broken(format!("write {} in the root", path.display())))?;
        Ok(target)
    }

    fn link(&self, target: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<(), Failure> {
        let path = path.as_ref();
        self.directory(path.parent().unwrap_or(Path::new("/")))?;
        symlink(target, self.at(path))
            .map_err(broken(format!("link {} in the root", path.display())))
    }

    /// Shows a file or folder of the host at `path`; it becomes read-only when the root is sealed.
    fn bind(&self, source: &Path, path: impl AsRef<Path>) -> Result<(), Failure> {
        let path = path.as_ref();
        let operation = || format!("show {} at {}", source.display(), path.display());
        let is_directory = source.metadata().map_err(broken(operation()))?.is_dir();
        let result = if is_directory {
            mount_bind_recursive(source, &self.directory(path)?)
        } else {
            mount_bind(source, &self.file(path, "")?)
        };
        result.map_err(|error| broken(operation())(error.into()))
    }

    fn system(&self) -> Result<(), Failure> {
        for path in SYSTEM {
            // A link (`/bin` to `usr/bin`) stays one.
            if let Ok(target) = fs::read_link(path) {
                self.link(target, path)?;
            } else if Path::new(path).is_dir() {
                self.bind(Path::new(path), path)?;
            }
        }
        Ok(())
    }

    fn settings(&self, network: bool) -> Result<(), Failure> {
        for name in SETTINGS.into_iter().chain(CERTIFICATES) {
            let path = Path::new("/etc").join(name);
            if path.exists() {
                self.bind(&path, &path)?;
            }
        }
        self.file(
            "/etc/passwd",
            "oz0:x:1000:1000:oz0:/oz0/home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
        )?;
        self.file("/etc/group", "oz0:x:1000:\nnogroup:x:65534:\n")?;
        self.file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")?;
        let resolver = Path::new("/etc/resolv.conf");
        if network && resolver.exists() {
            self.file("/etc/hosts", &fs::read_to_string("/etc/hosts").unwrap_or_default())?;
            self.bind(resolver, resolver)
        } else {
            self.file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n").map(drop)
        }
    }

    fn devices(&self) -> Result<(), Failure> {
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            self.bind(&path, &path)?;
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
        ] {
            self.link(target, Path::new("/dev").join(name))?;
        }
        Ok(())
    }

    fn interpreters(&self, order: &Order) -> Result<(), Failure> {
        self.directory(INTERPRETERS)?;
        for interpreter in &order.interpreters {
            for path in needed(interpreter, order.users_home.as_deref()) {
                // Two names of one program need its files once.
                if fs::symlink_metadata(self.at(&path)).is_err() {
                    self.bind(&path, &path)?;
                }
            }
            self.link(&interpreter.program, Path::new(INTERPRETERS).join(&interpreter.name))?;
        }
        Ok(())
    }

    fn writable(&self, order: &Order, places: &Places) -> Result<(), Failure> {
        for path in writable(order, places) {
            let target = self.directory(&path)?;
            if path != places.folder {
                let flags = MountFlags::NOSUID | MountFlags::NODEV;
                let data = std::ffi::CString::new(SCRATCH).expect("it has no NUL");
                mount("oz0", &target, "tmpfs", flags, Some(data.as_c_str())).map_err(|error| {
                    broken(format!("mount a writable {}", path.display()))(error.into())
                })?;
            }
        }
        Ok(())
    }

    fn plugin(&self, order: &Order, places: &Places) -> Result<(), Failure> {
        self.bind(&order.folder, &places.folder)?;
        if let Some(environment) = &order.python_environment {
            self.bind(environment, PYTHON_ENVIRONMENT)?;
        }
        if let Some(environment) = &order.node_environment {
            self.bind(environment, NODE_ENVIRONMENT)?;
            // Node.js looks for packages in the folders above a module.
            if let Some(parent) = places.folder.parent() {
                self.link(
                    Path::new(NODE_ENVIRONMENT).join("node_modules"),
                    parent.join("node_modules"),
                )?;
            }
        }
        Ok(())
    }

    fn shares(&self, shares: &Shares) -> Result<(), Failure> {
        for share in shares.iter() {
            let operation = || format!("share {}", share.path().display());
            let folder =
                open_folder(share.source()).map_err(|error| broken(operation())(error.into()))?;
            // What was opened is what was checked, whatever stands at the path by now.
            let opened = format!("/proc/self/fd/{}", folder.as_raw_fd());
            for path in share.places() {
                mount_bind_recursive(&opened, &self.directory(path)?)
                    .map_err(|error| broken(operation())(error.into()))?;
            }
        }
        Ok(())
    }

    fn proc(&self) -> Result<Option<MissingLayer>, Failure> {
        let proc = self.directory("/proc")?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("proc", &proc, "proc", flags, None)
            .map_err(|error| refused("mount /proc")(error.into()))?;
        let mut open = Vec::new();
        for name in MACHINE {
            let path = proc.join(name);
            let Ok(meta) = path.metadata() else { continue };
            let hidden = if meta.is_dir() {
                mount("oz0", &path, "tmpfs", flags | MountFlags::RDONLY, Some(c"size=0,mode=0555"))
            } else {
                mount_bind("/dev/null", &path)
            };
            if hidden.is_err() {
                open.push(name);
            }
        }
        for name in MACHINE_READABLE {
            let path = proc.join(name);
            if path.exists()
                && mount_bind_recursive(&path, &path)
                    .and_then(|()| mount_remount(&path, bind_flags(flags), c""))
                    .is_err()
            {
                open.push(name);
            }
        }
        let reason = || format!("not out of reach: {}", open.join(", "));
        Ok((!open.is_empty()).then(|| MissingLayer { layer: Layer::Proc, reason: reason() }))
    }

    /// Makes everything read-only but what may be written, and the devices, which a read-only
    /// mount would not hinder anyway. No program in a shared folder gains rights by who owns it, and
    /// no file there is a device.
    fn seal(&self, writable: &[PathBuf], shares: &Shares) -> Result<(), Failure> {
        let to_write: Vec<PathBuf> = written(shares).map(|path| self.at(path)).collect();
        let writable: Vec<PathBuf> = writable.iter().map(|path| self.at(path)).collect();
        let (proc, devices) = (self.at("/proc"), self.at("/dev"));
        let mounts = fs::read_to_string("/proc/self/mountinfo")
            .map_err(broken("read /proc/self/mountinfo"))?;
        // The root comes last: it is the first of the list.
        for line in mounts.lines().rev() {
            let Some((path, flags)) = mount_point(line) else { continue };
            if !path.starts_with(self.root)
                || path.starts_with(&proc)
                || (path.starts_with(&devices) && path != devices)
                || writable.contains(&path)
            {
                continue;
            }
            let flags = flags | MountFlags::NOSUID | MountFlags::NODEV;
            let flags = if to_write.iter().any(|folder| path.starts_with(folder)) {
                flags | MountFlags::BIND
            } else {
                bind_flags(flags)
            };
            match mount_remount(&path, flags, c"") {
                // The path leads elsewhere: this mount is below another one, where the host has
                // put it, and no server gets there either.
                Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => {
                    let operation = format!("make {} read-only", path.display());
                    return Err(broken(operation)(error.into()));
                }
            }
        }
        Ok(())
    }

    fn enter(&self) -> Result<(), Failure> {
        let step = |operation: &'static str| {
            move |error: rustix::io::Errno| refused(operation)(error.into())
        };
        rustix::process::chdir(self.root).map_err(step("enter the root"))?;
        // The old root is put over the new one, and taken away from there.
        rustix::process::pivot_root(".", ".").map_err(step("make the root the only one"))?;
        unmount(".", UnmountFlags::DETACH).map_err(step("leave the host's root"))?;
        rustix::process::chdir("/").map_err(step("enter the root"))
    }
}

/// Opens a folder by a path on which there is no link.
fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    match opened {
        // A kernel before 5.6.
        Err(Errno::NOSYS) if path.canonicalize().is_ok_and(|real| real == path) => {
            rustix::fs::open(path, flags, Mode::empty())
        }
        opened => opened,
    }
}

fn bind_flags(flags: MountFlags) -> MountFlags {
    flags | MountFlags::BIND | MountFlags::RDONLY
}

/// The mount point and its flags of one line of `/proc/self/mountinfo` (proc(5)). The flags are
/// kept when a mount is made read-only: a user namespace may not take any away.
fn mount_point(line: &str) -> Option<(PathBuf, MountFlags)> {
    let mut fields = line.split(' ');
    let path = unescape(fields.nth(4)?);
    let mut flags = MountFlags::empty();
    for option in fields.next()?.split(',') {
        flags |= match option {
            "ro" => MountFlags::RDONLY,
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    Some((path, flags))
}

/// Space, tab, newline and backslash are octal in `mountinfo`.
fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\')
            .then(|| bytes.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                plain.push(byte);
                at += 4;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    std::ffi::OsString::from_vec(plain).into()
}

/// Whether the host's system directories, which every server sees, hold it.
pub fn in_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// What has to be bound for an interpreter: nothing where it belongs to the system; the parts of
/// its prefix, unless that is a home or above one; the program alone otherwise.
fn needed(interpreter: &Interpreter, users_home: Option<&Path>) -> Vec<PathBuf> {
    if in_system(&interpreter.program) {
        return Vec::new();
    }
    let mut paths: Vec<PathBuf> = interpreter
        .prefix
        .iter()
        .filter(|prefix| {
            prefix.components().filter(|part| matches!(part, Component::Normal(_))).count() > 1
                && users_home.is_none_or(|home| !home.starts_with(prefix))
        })
        .flat_map(|prefix| PREFIX_PARTS.map(|part| prefix.join(part)))
        .filter(|path| path.is_dir())
        .collect();
    if !paths.iter().any(|path| interpreter.program.starts_with(path)) {
        paths.push(interpreter.program.clone());
    }
    paths
}

/// The places of tier 0: what tier 1 mounts is linked or made in a temporary folder.
pub(crate) fn furnish_plainly(order: &Order, room: &Path) -> Result<Places, Failure> {
    let step = |path: &Path| broken(format!("create {}", path.display()));
    let (home, scratch) = match order.variation {
        Variation::Standard => ("home", "scratch"),
        Variation::Other => ("somebody", "elsewhere"),
    };
    let (home, scratch, interpreters) = (room.join(home), room.join(scratch), room.join("bin"));
    for path in [&home, &scratch, &interpreters] {
        fs::create_dir(path).map_err(step(path))?;
    }
    for interpreter in &order.interpreters {
        let path = interpreters.join(&interpreter.name);
        symlink(&interpreter.program, &path).map_err(step(&path))?;
    }
    let mut programs = Vec::new();
    programs.extend(order.python_environment.iter().map(|path| path.join("bin")));
    programs.extend(order.node_environment.iter().map(|path| path.join("node_modules/.bin")));
    programs.push(interpreters);
    // The copy is ours to add to; an author's own folder is not.
    if let (Some(node), FolderAccess::Read) = (&order.node_environment, order.folder_access) {
        let path = order.folder.join("node_modules");
        match symlink(node.join("node_modules"), &path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(step(&path)(error));
            }
            _ => {}
        }
    }
    Ok(Places { folder: order.folder.clone(), home, scratch, programs })
}

/// What Landlock allows in tier 0.
pub(crate) fn plain_rules(order: &Order, places: &Places, room: &Path) -> FileRules {
    let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    read.extend(SYSTEM_PROGRAMS.map(PathBuf::from));
    read.extend(["/proc", "/run/current-system"].map(PathBuf::from));
    let settings = SETTINGS.into_iter().chain(CERTIFICATES).chain(NAMES);
    read.extend(settings.map(|name| Path::new("/etc").join(name)));
    read.push(places.folder.clone());
    read.extend(order.python_environment.iter().chain(&order.node_environment).cloned());
    for interpreter in &order.interpreters {
        read.extend(needed(interpreter, order.users_home.as_deref()));
    }
    let mut write: Vec<PathBuf> = vec![room.to_owned(), "/dev/shm".into()];
    write.extend(DEVICES.iter().map(|name| Path::new("/dev").join(name)));
    if order.folder_access == FolderAccess::Write {
        write.push(places.folder.clone());
    }
    for share in order.shares.iter() {
        match share.access() {
            ShareAccess::Read => read.push(share.source().to_owned()),
            ShareAccess::Write => write.push(share.source().to_owned()),
        }
    }
    FileRules { read, write }
}
