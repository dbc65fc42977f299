//! Who is the edge of a data folder.
//!
//! One process at a time has the *seat*: it holds `seat.lock`, opens the store and listens on the
//! socket. The system gives the lock up with the process that held it, however that ended, so there
//! is nothing to clean up and no other process to be believed dead: whoever waits for the lock has
//! it, binds the socket anew over whatever file is left, and is the edge.
//!
//! An `oz0 mcp` takes the seat where it is free, and waits for it where it is not. An `oz0 up` or
//! `oz0 edge` cannot wait: it has ports to serve. It holds `wanted.lock` while it wants the seat; an `oz0 mcp` that has
//! the seat looks for that a few times a second, and makes way.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::time::{Duration, Instant};

use oz0_edge::small::open_regular;
use tokio::sync::oneshot;

use crate::error::LocalError;
use crate::folder::{DataFolder, failed, is_locked, open_lock, try_lock};

/// Between two looks for somebody who wants the seat.
const LOOK: Duration = Duration::from_millis(200);
/// Between two tries of an `oz0 up` to take the seat that is being given up.
const TRY: Duration = Duration::from_millis(10);
/// How long an `oz0 up` waits for the seat to be given up: the edge's own bounds, and some more.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(15);

/// After so many tries in which the seat was one's that does not make way, it is taken.
const SEEN_TO_STAY: u32 = 20;

/// Who has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// `oz0 up`, which stays.
    Up,
    /// `oz0 edge`, which stays.
    Edge,
    /// `oz0 mcp`, which makes way.
    Mcp,
}

impl Role {
    const fn command(self) -> &'static str {
        match self {
            Self::Up => "oz0 up",
            Self::Edge => "oz0 edge",
            Self::Mcp => "oz0 mcp",
        }
    }
}

/// The seat, given up when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    _lock: File,
}

impl Seat {
    /// The seat, if it is free.
    fn try_take(folder: &DataFolder, role: Role) -> Result<Option<Self>, LocalError> {
        let path = folder.seat_lock();
        let Some(lock) = try_lock(&path)? else { return Ok(None) };
        Self::sign(lock, role).map(Some).map_err(failed("write", &path))
    }

    /// Writes down who has the seat, for whoever is told that it is taken.
    fn sign(mut lock: File, role: Role) -> std::io::Result<Self> {
        lock.set_len(0)?;
        lock.rewind()?;
        writeln!(lock, "{} {}", std::process::id(), role.command())?;
        Ok(Self { _lock: lock })
    }

    /// For one that stays: takes the seat, also from an `oz0 mcp`.
    pub(crate) async fn claim(folder: &DataFolder, role: Role) -> Result<Self, LocalError> {
        let until = Instant::now() + GIVEN_UP_WITHIN;
        let mut wanted = None;
        let mut stays = 0;
        loop {
            if let Some(seat) = Self::try_take(folder, role)? {
                return Ok(seat);
            }
            // Not at once, perhaps: whoever looks for it holds it for that moment.
            if wanted.is_none() {
                wanted = try_lock(&folder.wanted_lock())?;
            }
            // What is written there may be of the one before, whose successor has not signed yet.
            let holder = Holder::read(folder);
            match &holder {
                Some(holder) if holder.role != Some(Role::Mcp) => stays += 1,
                _ => stays = 0,
            }
            if stays == SEEN_TO_STAY || Instant::now() > until {
                let is_edge = holder.as_ref().is_some_and(Holder::is_edge);
                let holder = match (holder, &wanted) {
                    (Some(holder), Some(_)) => holder.to_string(),
                    (Some(holder), None) if stays > 0 => holder.to_string(),
                    (_, None) => "another `oz0 up`".to_owned(),
                    (None, Some(_)) => "another process".to_owned(),
                };
                let folder = folder.root().to_owned();
                return Err(LocalError::Taken { folder, holder, is_edge });
            }
            tokio::time::sleep(TRY).await;
        }
    }

    /// That somebody has the seat who does not make way.
    pub(crate) fn stays(folder: &DataFolder) -> Option<LocalError> {
        let taken = is_locked(&folder.seat_lock());
        let stays = |holder: &Holder| matches!(holder.role, Some(Role::Up | Role::Edge));
        let holder = Holder::read(folder).filter(|holder| taken && stays(holder))?;
        Some(LocalError::Taken {
            folder: folder.root().to_owned(),
            holder: holder.to_string(),
            is_edge: holder.is_edge(),
        })
    }

    /// For `oz0 mcp`: waits for the seat, for as long as it takes.
    pub(crate) async fn wait(folder: &DataFolder) -> Result<Self, LocalError> {
        loop {
            let path = folder.seat_lock();
            let lock =
                locked(open_lock(&path)?, File::lock).await.map_err(failed("lock", &path))?;
            let wanted = folder.wanted_lock();
            if !is_locked(&wanted) {
                return Self::sign(lock, Role::Mcp).map_err(failed("write", &path));
            }
            drop(lock);
            // Somebody with more right to it is about to take it; after that it is waited for again.
            locked(open_lock(&wanted)?, File::lock_shared)
                .await
                .map_err(failed("lock", &wanted))?;
        }
    }

    /// Waits until somebody wants the seat.
    pub(crate) async fn wanted(folder: &DataFolder) {
        let wanted = folder.wanted_lock();
        while !is_locked(&wanted) {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Waits for a lock in a thread of its own, which the end of the process takes with it.
async fn locked(
    file: File,
    lock: impl Fn(&File) -> std::io::Result<()> + Send + 'static,
) -> std::io::Result<File> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("oz0-seat".to_owned()).spawn(move || {
        // Where nobody waits for it any more the file is dropped here, and the lock with it.
        let _ = sender.send(lock(&file).map(|()| file));
    })?;
    receiver.await.unwrap_or_else(|_| Err(std::io::Error::other("the thread that waited is gone")))
}

impl DataFolder {
    /// Whether an `oz0 edge` runs on it, which runs no plugin in place.
    pub fn has_edge_alone(&self) -> bool {
        is_locked(&self.seat_lock()) && Holder::read(self).is_some_and(|holder| holder.is_edge())
    }
}

/// What the one who has the seat wrote down.
pub(crate) struct Holder {
    process: u32,
    role: Option<Role>,
}

impl Holder {
    /// Whether it is an `oz0 edge`.
    fn is_edge(&self) -> bool {
        self.role == Some(Role::Edge)
    }

    pub(crate) fn read(folder: &DataFolder) -> Option<Self> {
        let mut text = String::new();
        open_regular(&folder.seat_lock()).ok()?.take(100).read_to_string(&mut text).ok()?;
        let (process, command) = text.trim().split_once(' ')?;
        let role =
            [Role::Up, Role::Edge, Role::Mcp].into_iter().find(|role| role.command() == command);
        Some(Self { process: process.parse().ok()?, role })
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let command = self.role.map_or("another command", Role::command);
        write!(f, "`{command}` (process {})", self.process)
    }
}
