//! Versions, ranges of versions, and schedules.

use oz0_diagnostic::Check;

use crate::check::OZ_L001;
use crate::decode::text::{Text, pattern};

/// A part of a version's number. Longer ones would not fit 64 bits.
macro_rules! number {
    () => {
        r"(0|[1-9][0-9]{0,18})"
    };
}

/// A pre-release and build metadata, as Semantic Versioning's own expression has them.
macro_rules! suffix {
    () => {
        concat!(
            r"(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?",
            r"(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
        )
    };
}

/// A plugin's version: Semantic Versioning 2.0.0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginVersion(semver::Version);

impl PluginVersion {
    /// The version.
    pub fn as_semver(&self) -> &semver::Version {
        &self.0
    }
}

impl std::fmt::Display for PluginVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Text for PluginVersion {
    const WHAT: &'static str = "a version";
    const RULE: &'static str = "write MAJOR.MINOR.PATCH, such as 1.4.0";
    const CHECK: &'static Check = &OZ_L001;
    pattern!(concat!("^", number!(), r"\.", number!(), r"\.", number!(), suffix!(), "$"));

    fn parse(text: &str) -> Result<Self, String> {
        semver::Version::parse(text).map(Self).map_err(|error| format!("is no version: {error}"))
    }

    fn hint(text: &str) -> Option<String> {
        let bare = text.trim().trim_start_matches(['v', 'V', '=']);
        [bare.to_owned(), format!("{bare}.0"), format!("{bare}.0.0")]
            .into_iter()
            .find(|candidate| Self::pattern().is_match(candidate))
            .map(|candidate| format!("write MAJOR.MINOR.PATCH: {candidate}"))
    }
}

/// The versions of another plugin that this one works with: ranges as `>=1.1, <2`, several of them joined by `||`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange {
    text: String,
    branches: Vec<semver::VersionReq>,
}

impl VersionRange {
    /// The range as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The ranges that `||` joins; a version is in the whole when it is in one of them.
    pub fn branches(&self) -> &[semver::VersionReq] {
        &self.branches
    }

    /// Whether a version is in the range.
    pub fn matches(&self, version: &PluginVersion) -> bool {
        self.branches.iter().any(|branch| branch.matches(version.as_semver()))
    }
}

impl Text for VersionRange {
    const WHAT: &'static str = "a range of versions";
    const RULE: &'static str = "write comparisons joined by commas, such as `>=1.1, <2`";
    const CHECK: &'static Check = &OZ_L001;
    pattern!(r"^[0-9A-Za-z<>=~^*|+., -]*[0-9*][0-9A-Za-z<>=~^*|+., -]*$");

    fn parse(text: &str) -> Result<Self, String> {
        let branches = text
            .split("||")
            .map(|branch| semver::VersionReq::parse(branch.trim()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| format!("is no range of versions: {error}"))?;
        Ok(Self { text: text.to_owned(), branches })
    }
}

/// When a flow runs: five fields, as cron has them (minute, hour, day of the month, month, day of the week).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule(String);

impl Schedule {
    /// The five fields as they are written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Each field's name, bounds, and the names that stand for its numbers from the lower bound on.
const FIELDS: [(&str, u32, u32, &[&str]); 5] = [
    ("minute", 0, 59, &[]),
    ("hour", 0, 23, &[]),
    ("day of the month", 1, 31, &[]),
    (
        "month",
        1,
        12,
        &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    ),
    ("day of the week", 0, 7, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

impl Text for Schedule {
    const WHAT: &'static str = "a schedule";
    const RULE: &'static str = "write five fields: minute, hour, day of the month, month, day of the week, such as `0 6 * * *`";
    const CHECK: &'static Check = &OZ_L001;
    pattern!(r"^[0-9A-Za-z*,/-]+( +[0-9A-Za-z*,/-]+){4}$");

    fn parse(text: &str) -> Result<Self, String> {
        for (field, (name, low, high, words)) in text.split_ascii_whitespace().zip(FIELDS) {
            let number = |text: &str| -> Option<u32> {
                let word = words.iter().position(|word| text.eq_ignore_ascii_case(word));
                let number = match word {
                    Some(at) => low + u32::try_from(at).ok()?,
                    None => text.parse().ok()?,
                };
                (low..=high).contains(&number).then_some(number)
            };
            for item in field.split(',') {
                let (range, step) = match item.split_once('/') {
                    Some((range, step)) => (range, Some(step)),
                    None => (item, None),
                };
                let in_range = match range.split_once('-') {
                    _ if range == "*" => true,
                    Some((from, to)) => {
                        number(from).zip(number(to)).is_some_and(|(from, to)| from <= to)
                    }
                    None => number(range).is_some(),
                };
                let steps = step.is_none_or(|step| step.parse::<u32>().is_ok_and(|step| step > 0));
                if !in_range || !steps {
                    return Err(format!(
                        "has `{item}` as its {name}, which is from {low} to {high}"
                    ));
                }
            }
        }
        Ok(Self(text.to_owned()))
    }
}
