//! What a Python script imports.
//!
//! A module's name does not say which package it is of, so this finds no requirements. It finds that a script needs some,
//! where nothing says which: such a script would fail at its first line, in the sandbox.

use std::path::Path;

use crate::local::read_script;

/// The modules of Python's own library, those of newer and older versions among them.
const OWN: &str = "\
    abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii \
    bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections \
    colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes \
    curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum \
    errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt \
    getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp \
    importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox \
    mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt \
    ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools \
    pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile \
    pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy \
    sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket \
    socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep \
    struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios \
    textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty \
    turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref \
    webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// The modules that a script imports from its beginning, and that neither Python has nor a file beside it is. A line that
/// is indented may never be reached, so it does not count.
pub(crate) fn packages(script: &Path) -> Vec<String> {
    let Some(source) = read_script(script) else { return Vec::new() };
    let folder = script.parent().unwrap_or(Path::new(""));
    let mut found: Vec<String> = imported(&source)
        .into_iter()
        .filter(|module| {
            !OWN.split_ascii_whitespace().any(|own| own == *module)
                && !module.starts_with('_')
                && !folder.join(format!("{module}.py")).exists()
                && !folder.join(module).exists()
        })
        .map(str::to_owned)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn imported(source: &str) -> Vec<&str> {
    let mut modules = Vec::new();
    // Inside of a text of several lines nothing is code.
    let mut quote: Option<&str> = None;
    for line in source.lines() {
        if quote.is_none() {
            let code = line.split('#').next().unwrap_or_default();
            if let Some(rest) = code.strip_prefix("import ") {
                modules.extend(
                    rest.split(';').next().unwrap_or_default().split(',').filter_map(first_name),
                );
            } else if let Some((module, _)) =
                code.strip_prefix("from ").and_then(|rest| rest.split_once(" import"))
            {
                modules.extend(first_name(module));
            }
        }
        let mut rest = line;
        loop {
            let next = match quote {
                Some(quote) => rest.find(quote).map(|at| (at, quote)),
                None => ["\"\"\"", "'''"]
                    .into_iter()
                    .filter_map(|quote| rest.find(quote).map(|at| (at, quote)))
                    .min(),
            };
            let Some((at, found)) = next else { break };
            quote = if quote.is_some() { None } else { Some(found) };
            rest = &rest[at + 3..];
        }
    }
    modules
}

/// The first part of a module's name, of `a.b as c`. `None` for one that is relative, and for what is no name.
fn first_name(text: &str) -> Option<&str> {
    let word = text.split_whitespace().next()?;
    let name = word.split('.').next()?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain && name.starts_with(|c: char| c.is_alphabetic() || c == '_')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::imported;

    #[test]
    fn imports_of_the_first_level_are_found_and_no_others() {
        let source = "\"\"\"Says\nimport nothing\n\"\"\"\nimport os, httpx as h; x()\nfrom mcp.server import x  # y\n\
                      from . import near\ntry:\n    import fast\nx = 1 # import comment\nimport a.b\nx = \'\'\'\nimport text\'\'\'\n";
        assert_eq!(imported(source), ["os", "httpx", "mcp", "a"]);
    }
}
