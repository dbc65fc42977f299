//! The whole suite once more, over `PostgreSQL`.
//!
//! This test binary runs itself with a server in its environment, at which every house then keeps its store. What is left
//! out is about the file that `SQLite` keeps.

use std::process::Command;

use crate::database::{SERVER, is_postgres, server};

/// Tests of files: cut short, overwritten, copied, deleted, or on a full disk; and of what touches no store.
const OF_FILES: &[&str] = &[
    "postgres::",
    "edges::",
    "backup::",
    "bucket::",
    "credentials::a_store_of_before",
    "credentials::without_its_key",
    "full::",
    "function_laws::",
    "version_laws::",
    "kill::a_crash_at_any_step",
    "nodes::a_restored_store_that_came_further",
    "trust::a_store_that_is_gone_or_empty",
    "trust::a_store_cut_short",
    "trust::a_store_overwritten",
    "trust::the_store_of_another_edge",
    "trust::an_older_copy_of_the_store",
    "trust::a_store_that_is_deleted",
];

#[test]
fn everything_that_holds_over_a_file_holds_over_a_server() {
    if is_postgres() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    for test in OF_FILES {
        command.args(["--skip", test]);
    }
    let ended = command.env(SERVER, server().folder()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}\n{}", String::from_utf8_lossy(&ended.stderr));
    let ran = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(ran > 100, "it ran {ran} tests:\n{said}");
}
