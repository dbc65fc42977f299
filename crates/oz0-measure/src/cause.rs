//! Names the likely cause of a part that moved between two looks.
//!
//! A guess for the author, from the two texts alone; nothing is decided by it. It knows the causes that real servers have
//! shown: a clock read at start, a set whose order follows the hash seed, paths of the folder or the home folder, the local
//! time zone, and values made at random.

use std::fmt;

use crate::compare::Part;

/// What distinguishes the surroundings of two looks, as far as it can show up in a listing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    /// The time zones of the two looks.
    pub(crate) zones: Vec<String>,
    /// The plugin's folder as each look saw it.
    pub(crate) folders: Vec<String>,
    /// HOME as each look saw it.
    pub(crate) homes: Vec<String>,
}

/// A likely cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The time at which the server started or listed.
    Clock,
    /// The iteration order of a set or a map, which follows a hash seed.
    Order,
    /// The plugin's folder.
    Folder,
    /// The home folder.
    Home,
    /// The local time zone.
    Zone,
    /// A value made at random at each start.
    Random,
    /// Nothing that the texts give away.
    Unknown,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clock => "the clock: it reads like a time",
            Self::Order => "the order of a set or a map, which follows the hash seed: sort it before it is listed",
            Self::Folder => "the folder the server runs in",
            Self::Home => "the home folder",
            Self::Zone => "the time zone",
            Self::Random => "a value made at random at each start",
            Self::Unknown => "something that differs from start to start",
        })
    }
}

/// The likely cause of one part that moved.
pub(crate) fn likely(part: &Part, traces: &Traces) -> Cause {
    let (Some(first), Some(later)) = (&part.first, &part.later) else {
        return Cause::Unknown;
    };
    let shows = |needles: &[String]| {
        needles.iter().any(|needle| {
            !needle.is_empty()
                && (first.contains(needle.as_str()) || later.contains(needle.as_str()))
        })
    };
    if is_reordered(first, later) {
        Cause::Order
    } else if shows(&traces.folders) {
        Cause::Folder
    } else if shows(&traces.homes) {
        Cause::Home
    } else if shows(&traces.zones) {
        Cause::Zone
    } else if is_time_like(first, later) {
        Cause::Clock
    } else if is_random_like(first, later) {
        Cause::Random
    } else {
        Cause::Unknown
    }
}

/// The same words, or the same elements, in another order.
fn is_reordered(first: &str, later: &str) -> bool {
    let sorted = |text: &str| {
        let mut words: Vec<String> = text
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        words.sort_unstable();
        words
    };
    let words = sorted(first);
    words.len() > 1 && words == sorted(later)
}

/// Digits moved and little else, in a text that has the form of a date, a time of day or a count of seconds.
fn is_time_like(first: &str, later: &str) -> bool {
    let skeleton = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    if skeleton(first) != skeleton(later) {
        return false;
    }
    let runs = |text: &str| {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|run| !run.is_empty())
            .map(str::len)
            .collect::<Vec<_>>()
    };
    let lengths = runs(first);
    // 10 digits are seconds since 1970, 13 milliseconds, 16 and 19 finer ones.
    let counts_seconds = lengths.iter().any(|length| matches!(length, 10 | 13 | 16 | 19));
    let of_day = first.as_bytes().windows(5).any(|window| {
        window[2] == b':' && window.iter().enumerate().all(|(i, b)| i == 2 || b.is_ascii_digit())
    });
    let of_calendar = first.as_bytes().windows(8).any(|window| {
        window[4] == b'-'
            && window[7] == b'-'
            && window.iter().enumerate().all(|(i, b)| i == 4 || i == 7 || b.is_ascii_digit())
    });
    counts_seconds || of_day || of_calendar
}

/// Long runs of letters and digits that have nothing in common.
fn is_random_like(first: &str, later: &str) -> bool {
    let longest = |text: &str| {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .filter(|word| word.chars().any(|c| c.is_ascii_digit()))
            .map(str::len)
            .max()
            .unwrap_or(0)
    };
    longest(first) >= 8 && longest(later) >= 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(first: &str, later: &str) -> Cause {
        let traces = Traces {
            zones: vec!["UTC".into(), "Asia/Kathmandu".into()],
            folders: vec!["/oz0/plugin".into(), "/oz0/other/plugin".into()],
            homes: vec!["/oz0/home".into()],
        };
        let pointer = "/inputSchema/properties/at/default".parse().expect("a pointer");
        likely(&Part { pointer, first: Some(first.into()), later: Some(later.into()) }, &traces)
    }

    #[test]
    fn each_known_cause_is_named() {
        assert_eq!(cause(r#""2026-11-30T10:00:00Z""#, r#""2026-11-30T10:00:01Z""#), Cause::Clock);
        assert_eq!(cause("1764500000", "1764500001"), Cause::Clock);
        assert_eq!(
            cause(r#""status,summary,assignee""#, r#""assignee,status,summary""#),
            Cause::Order
        );
        assert_eq!(cause(r#"["b","a"]"#, r#"["a","b"]"#), Cause::Order);
        assert_eq!(cause(r#""in /oz0/plugin""#, r#""in /oz0/other/plugin""#), Cause::Folder);
        assert_eq!(cause(r#""Use 'UTC'""#, r#""Use 'Asia/Kathmandu'""#), Cause::Zone);
        assert_eq!(cause(r#""3f2b8c1e-aa01-4c7e""#, r#""91d04b77-0b1c-4a55""#), Cause::Random);
        assert_eq!(cause(r#""hello""#, r#""goodbye""#), Cause::Unknown);
    }

    #[test]
    fn one_word_is_not_a_reordering_of_itself() {
        assert_eq!(cause(r#""a""#, r#""a ""#), Cause::Unknown);
    }
}
