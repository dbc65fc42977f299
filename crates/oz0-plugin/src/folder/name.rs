//! Which paths every system can hold, and which two of them some system takes for one.
//!
//! A plugin is packed on one machine and unpacked on another. Where file names ignore case (Windows, macOS) or Unicode's
//! forms (macOS), the second of two files that differ in nothing else replaces the first, so what runs is not what was
//! reviewed; and where Windows gives a name a meaning of its own, the file is not written at all, or is a device. One
//! module says both, for the folder that is packed and for the archive that is read.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use oz0_listing::escape;

/// Why a path is not one of a plugin's files on every system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathFault {
    /// It is empty, or a part of it is.
    Empty,
    /// It begins at the root of a file system or of a drive.
    Absolute,
    /// A part of it is `.` or `..`.
    Dots,
    /// It has a control character.
    Control,
    /// It has a character that Windows gives a meaning: one of `\ < > : " | ? *`.
    Sign(char),
    /// A part of it ends in a dot or a blank, which Windows takes away.
    End,
    /// A part of it is one of Windows' devices, such as `con` or `com1.txt`.
    Device,
}

impl fmt::Display for PathFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it, or a part of it, is empty"),
            Self::Absolute => f.write_str("it does not begin in the plugin's folder"),
            Self::Dots => f.write_str("a part of it is `.` or `..`"),
            Self::Control => f.write_str("it has a control character"),
            Self::Sign(sign) => write!(f, "Windows allows no `{sign}` in a name"),
            Self::End => {
                f.write_str("a part of it ends in a dot or a blank, which Windows takes away")
            }
            Self::Device => f.write_str("a part of it is the name of a device to Windows"),
        }
    }
}

/// Checks that a path leads from the plugin's root to a place below it, and that Windows can hold each of its names.
///
/// # Errors
///
/// The first fault, those that leave the folder first.
pub fn check_path(path: &str) -> Result<(), PathFault> {
    if path.starts_with('/') {
        return Err(PathFault::Absolute);
    }
    let mut fault = None;
    for part in path.split('/') {
        match part {
            "" => return Err(PathFault::Empty),
            "." | ".." => return Err(PathFault::Dots),
            _ => fault = fault.or_else(|| name_fault(part)),
        }
    }
    fault.map_or(Ok(()), Err)
}

/// What Windows has against a name (Microsoft, "Naming Files, Paths, and Namespaces").
fn name_fault(name: &str) -> Option<PathFault> {
    for character in name.chars() {
        if character.is_control() {
            return Some(PathFault::Control);
        }
        if matches!(character, '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*') {
            return Some(PathFault::Sign(character));
        }
    }
    if name.ends_with(['.', ' ']) {
        return Some(PathFault::End);
    }
    // Windows looks at what stands before the first dot, without blanks at its end.
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ');
    is_device(stem).then_some(PathFault::Device)
}

fn is_device(stem: &str) -> bool {
    const DEVICES: [&str; 7] = ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];
    if DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) {
        return true;
    }
    let mut characters = stem.chars();
    let (Some(number), port) = (characters.next_back(), characters.as_str()) else { return false };
    matches!(number, '0'..='9' | '¹' | '²' | '³')
        && (port.eq_ignore_ascii_case("com") || port.eq_ignore_ascii_case("lpt"))
}

/// The paths that were seen, and how each file and folder of them is spelled.
#[derive(Debug, Default)]
pub struct Spellings {
    /// For each folded path of a file or folder, how it is spelled, and whether it is a folder.
    seen: HashMap<String, (String, bool)>,
    /// The folder of the file before: most have the same.
    last: String,
    /// The folders that clashed: one mistake is told once, and not for each file in them.
    told: HashSet<String>,
}

impl Spellings {
    /// Adds the path of a file, and says with which earlier file or folder it or a folder above it clashes: one that is
    /// the same but for case, Unicode form or invisible characters, or a file that stands where a folder must. A folder that
    /// clashed once is not told again.
    ///
    /// # Errors
    ///
    /// The path, or the folder above it, that clashes, and the earlier one.
    pub fn add(&mut self, path: &str) -> Result<(), (String, String)> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder != self.last {
            for (at, _) in path.match_indices('/') {
                let above = &path[..at];
                if !self.told.contains(above)
                    && let Err(clash) = self.enter(above, true)
                {
                    self.told.insert(above.to_owned());
                    return Err(clash);
                }
            }
            folder.clone_into(&mut self.last);
        }
        self.enter(path, false)
    }

    fn enter(&mut self, path: &str, is_folder: bool) -> Result<(), (String, String)> {
        match self.seen.entry(folded(path)) {
            Entry::Vacant(free) => {
                free.insert((path.to_owned(), is_folder));
                Ok(())
            }
            // A second look at a folder is no clash; a second file of one path is.
            Entry::Occupied(taken) if is_folder && taken.get().1 && taken.get().0 == path => Ok(()),
            Entry::Occupied(taken) => Err((path.to_owned(), taken.get().0.clone())),
        }
    }
}

/// What two paths share that some system takes for one: Unicode's NFKC case folding (Unicode Standard, section 3.13,
/// R5), without the characters that nobody sees, some of which HFS+ leaves out of account.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let case = CaseMapper::new();
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    let visible: String = DecomposingNormalizerBorrowed::new_nfd()
        .normalize(path)
        .chars()
        .filter(|character| !is_unseen(*character))
        .collect();
    let once = nfkc.normalize(&case.fold_string(&visible)).into_owned();
    nfkc.normalize(&case.fold_string(&once)).into_owned()
}

/// An invisible character, but none that a font of somebody's own may draw.
fn is_unseen(character: char) -> bool {
    let is_private = matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    escape::is_invisible(character) && !is_private
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PathFault, Spellings, check_path, folded};

    #[test]
    fn a_path_that_some_system_cannot_hold_is_told() {
        let table = [
            ("", PathFault::Empty),
            ("a//b", PathFault::Empty),
            ("a/", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("../x", PathFault::Dots),
            ("a/../x", PathFault::Dots),
            ("a:b/..", PathFault::Dots),
            ("./x", PathFault::Dots),
            ("a\nb", PathFault::Control),
            ("a\u{85}b", PathFault::Control),
            ("C:/x", PathFault::Sign(':')),
            ("a\\b", PathFault::Sign('\\')),
            ("why?", PathFault::Sign('?')),
            ("a./b", PathFault::End),
            ("a ", PathFault::End),
            ("...", PathFault::End),
            ("docs/CON", PathFault::Device),
            ("con.tar.gz", PathFault::Device),
            ("nul .txt", PathFault::Device),
            ("COM¹", PathFault::Device),
            ("lpt9.log", PathFault::Device),
            ("CONIN$", PathFault::Device),
        ];
        for (path, fault) in table {
            assert_eq!(check_path(path), Err(fault), "{path:?}");
        }
        for path in
            ["a", ".gitignore", "a/b.py", "console.py", "com10", "com", "nul_", "…", "é/ß", " a"]
        {
            assert_eq!(check_path(path), Ok(()), "{path:?}");
        }
    }

    #[test]
    fn paths_that_some_system_takes_for_one_clash() {
        let clashes = [
            ("a.py", "A.py"),
            ("lib/a.py", "LIB/b.py"),
            ("a", "a/b"),
            ("a/b", "a"),
            ("A/b", "a"),
            ("\u{e9}", "e\u{301}"),
            ("\u{c9}.md", "e\u{301}.MD"),
            ("stra\u{df}e", "STRASSE"),
            ("\u{212a}", "k"),
            ("\u{17f}", "S"),
            ("\u{fb01}le", "file"),
            ("\u{3c3}", "\u{3c2}"),
            ("a\u{200b}", "a"),
            ("x", "x"),
        ];
        for (first, second) in clashes {
            let mut seen = Spellings::default();
            assert_eq!(seen.add(first), Ok(()));
            assert!(seen.add(second).is_err(), "{first:?} and {second:?}");
        }
    }

    #[test]
    fn paths_in_one_folder_do_not_clash_with_it() {
        let mut seen = Spellings::default();
        for path in ["a/b/c", "a/b/d", "a/e", "ab", "a/b/e", "d/a/b/c", "\u{131}", "i"] {
            assert_eq!(seen.add(path), Ok(()), "{path}");
        }
    }

    proptest! {
        #[test]
        fn what_is_folded_stays_folded(path in "\\PC{0,12}") {
            let once = folded(&path);
            prop_assert_eq!(folded(&once), once.clone());
            prop_assert_eq!(folded(&path.to_uppercase()), folded(&path.to_lowercase().to_uppercase()));
        }
    }
}
