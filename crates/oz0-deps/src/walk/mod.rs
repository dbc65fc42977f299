//! The walk: every file of a tree, read by the readers of its formats.
//!
//! Several threads take folders from one list. A thread that reads a folder puts its subfolders on the list and reads its files,
//! so that what is in memory are the files in flight, the names of the folders they are in, and what was found. What comes out
//! is put in order at the end, and is the same whatever the threads did.
//!
//! The one thing that would depend on their order is which files are read when a tree has more than may be: more files, or more
//! that is found than may be kept. Then the walk is done again from the beginning, by one thread in the order of the paths, up
//! to the bound.

mod checkout;
mod disk;
mod failure;
mod link;
mod listing;
mod memory;
mod queue;
mod worker;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use oz0_diagnostic::{SourceFile, Span};

pub(crate) use self::disk::Disk;
pub(crate) use self::failure::Failure;
use self::queue::{Folder, Job, Queue};
use self::worker::Worker;
use crate::{Mention, Reading, Request, Tree, Unread, stack};

/// The most threads.
const THREADS: usize = 8;

/// Reads a tree.
pub(crate) fn walk(tree: &Tree<'_>, request: &Request<'_>) -> Reading {
    let disk = match tree {
        Tree::Files(_) => None,
        Tree::Folder(path) | Tree::Unsaved { folder: path, .. } => match Disk::open(path) {
            Ok(disk) => Some(disk),
            Err(failure) => return unreadable_root(path, &failure),
        },
    };
    let threads = request.threads.unwrap_or_else(processors).clamp(1, 64);
    let walk = Walk::new(tree, request, disk.as_ref(), threads == 1);
    let reading = walk.run(threads);
    if !walk.is_over() || walk.ordered {
        return reading;
    }
    Walk::new(tree, request, disk.as_ref(), true).run(1)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS)
}

fn unreadable_root(path: &Path, failure: &Failure) -> Reading {
    let problem = match failure {
        Failure::Gone => format!("{} is no folder", path.display()),
        failure => format!("{} {failure}", path.display()),
    };
    let span = whole(".");
    Reading { unread: vec![Unread { span, problem, help: None }], ..Reading::default() }
}

/// The place of a folder, or of a file as a whole.
pub(crate) fn whole(path: &str) -> Span {
    Span::start_of(&SourceFile::new(path, ""))
}

/// A walk that is going on.
struct Walk<'a> {
    tree: &'a Tree<'a>,
    request: &'a Request<'a>,
    /// Of a tree on disk.
    disk: Option<&'a Disk>,
    /// One thread, in the order of the paths, and no further than the bound.
    ordered: bool,
    queue: Queue,
    files: AtomicUsize,
    folders: AtomicUsize,
    /// The bytes of texts that something was found in.
    kept: AtomicUsize,
    over: AtomicBool,
    /// What links lead to inside of a checkout's `.git`, by its real path: each is read once.
    strays: Mutex<BTreeSet<Vec<u8>>>,
}

impl<'a> Walk<'a> {
    fn new(
        tree: &'a Tree<'a>,
        request: &'a Request<'a>,
        disk: Option<&'a Disk>,
        ordered: bool,
    ) -> Self {
        let queue = Queue::new();
        queue.push(&mut vec![Job::Folder(Folder::root())]);
        Self {
            tree,
            request,
            disk,
            ordered,
            queue,
            files: AtomicUsize::new(0),
            folders: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            strays: Mutex::new(BTreeSet::new()),
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn run(&self, threads: usize) -> Reading {
        let mut reading = self.unplain();
        std::thread::scope(|scope| {
            let mut running = Vec::new();
            let mut refused = None;
            for _ in 0..threads {
                let thread = std::thread::Builder::new().stack_size(stack::SIZE);
                match thread.spawn_scoped(scope, || {
                    stack::mark();
                    Worker::new(self).run()
                }) {
                    Ok(thread) => running.push(thread),
                    Err(error) => refused = Some(error),
                }
            }
            // One thread less is only slower.
            if let (true, Some(error)) = (running.is_empty(), refused) {
                let problem =
                    format!("was not read: there is no thread with a stack of 1 GiB: {error}");
                let help = Some("allow this process more address space (`ulimit -v`)".to_owned());
                reading.unread.push(Unread { span: whole("."), problem, help });
            }
            for thread in running {
                match thread.join() {
                    Ok(found) => merge(&mut reading, found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        put_in_order(&mut reading);
        reading
    }
}

impl Walk<'_> {
    /// Files in memory whose paths no folder could have.
    fn unplain(&self) -> Reading {
        let mut reading = Reading::default();
        if let Tree::Files(files) = self.tree {
            for path in files.keys().filter(|path| !memory::is_plain(path)) {
                let problem = "was not read: no file in a folder has such a path".to_owned();
                reading.unread.push(Unread { span: whole(path), problem, help: None });
            }
        }
        reading
    }
}

fn merge(reading: &mut Reading, mut found: Reading) {
    reading.mentions.append(&mut found.mentions);
    reading.unread.append(&mut found.unread);
    reading.large.append(&mut found.large);
    reading.files += found.files;
    reading.links_out += found.links_out;
    reading.in_copies += found.in_copies;
}

fn put_in_order(reading: &mut Reading) {
    fn place(span: &Span) -> (&str, usize, usize) {
        (span.file().path(), span.range().start, span.range().end)
    }
    fn of_mention(mention: &Mention) -> impl Ord + '_ {
        (place(&mention.span), mention.how, mention.ecosystem, &*mention.name)
    }
    fn of_unread(unread: &Unread) -> impl Ord + '_ {
        (place(&unread.span), &*unread.problem)
    }
    reading.mentions.sort_by(|a, b| of_mention(a).cmp(&of_mention(b)));
    // A file that several others include is read with each of them.
    reading.mentions.dedup_by(|a, b| of_mention(a) == of_mention(b));
    for unread in [&mut reading.unread, &mut reading.large] {
        unread.sort_by(|a, b| of_unread(a).cmp(&of_unread(b)));
        unread.dedup_by(|a, b| of_unread(a) == of_unread(b));
    }
}
