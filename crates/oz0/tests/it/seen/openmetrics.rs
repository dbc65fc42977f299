//! A strict reader of `OpenMetrics` text 1.0, as far as it has what oz0 tells: whatever is not as the specification says fails
//! the test that reads it.

use std::collections::{BTreeMap, BTreeSet};

/// Labels of a sample.
pub(crate) type Labels = BTreeMap<String, String>;

/// A metric family.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) kind: String,
    pub(crate) unit: Option<String>,
    help: bool,
    /// Its samples, by the suffix of their names and their labels.
    pub(crate) samples: BTreeMap<(String, Labels), f64>,
}

/// Reads a whole page.
pub(crate) fn read(page: &str) -> BTreeMap<String, Family> {
    let body = page.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end of file:\n{page}"));
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    // Samples and descriptions of a family stand together.
    let mut current = String::new();
    for line in body.lines() {
        if let Some(described) = line.strip_prefix("# ") {
            let [what, name, rest] = described.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            if name != current {
                assert!(is_name(name) && !families.contains_key(name), "interleaved: {line}");
                name.clone_into(&mut current);
            }
            let family = families.entry(name.to_owned()).or_default();
            assert!(family.samples.is_empty(), "a description behind a sample: {line}");
            match what {
                "HELP" => assert!(!std::mem::replace(&mut family.help, true), "{line}"),
                "TYPE" => {
                    assert!(family.kind.is_empty(), "{line}");
                    assert!(["counter", "gauge", "histogram", "info"].contains(&rest), "{line}");
                    rest.clone_into(&mut family.kind);
                }
                "UNIT" => {
                    assert!(name.ends_with(&format!("_{rest}")) && family.unit.is_none(), "{line}");
                    family.unit = Some(rest.to_owned());
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let family = families.get_mut(&current).unwrap_or_else(|| panic!("of no family: {line}"));
        let (name, labels, value) = sample(line);
        let suffix = name.strip_prefix(&current).unwrap_or_else(|| panic!("interleaved: {line}"));
        let suffixes: &[&str] = match family.kind.as_str() {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            "info" => &["_info"],
            _ => &[],
        };
        assert!(suffixes.contains(&suffix), "{line}");
        assert!(family.kind == "gauge" || value >= 0.0, "{line}");
        let twice = family.samples.insert((suffix.to_owned(), labels), value);
        assert!(twice.is_none(), "twice: {line}");
    }
    for (name, family) in &families {
        assert!(family.help && !family.kind.is_empty() && !family.samples.is_empty(), "{name}");
        if family.kind == "histogram" {
            buckets(name, family);
        }
    }
    families
}

fn is_name(name: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(inside) && name.starts_with(|c: char| !c.is_ascii_digit())
}

fn sample(line: &str) -> (&str, Labels, f64) {
    let at = line.find(['{', ' ']).unwrap_or_else(|| panic!("{line}"));
    let (name, mut rest) = line.split_at(at);
    let mut labels = Labels::new();
    if let Some(mut inside) = rest.strip_prefix('{') {
        while !inside.starts_with('}') {
            let (label, behind) = inside.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            let mut value = String::new();
            let mut characters = behind.char_indices();
            let end = loop {
                match characters.next().unwrap_or_else(|| panic!("{line}")) {
                    (end, '"') => break end,
                    (_, '\\') => match characters.next() {
                        Some((_, 'n')) => value.push('\n'),
                        Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                        other => panic!("{other:?}: {line}"),
                    },
                    (_, plain) => value.push(plain),
                }
            };
            assert!(is_name(label) && labels.insert(label.to_owned(), value).is_none(), "{line}");
            inside = &behind[end + 1..];
            inside = inside.strip_prefix(',').unwrap_or(inside);
        }
        rest = &inside[1..];
    }
    let value = rest.strip_prefix(' ').unwrap_or_else(|| panic!("{line}"));
    (name, labels, value.parse().unwrap_or_else(|_| panic!("{line}")))
}

/// Buckets rise, and the last one, of everything, is the count.
fn buckets(name: &str, family: &Family) {
    let mut of: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for ((suffix, labels), count) in &family.samples {
        if suffix == "_bucket" {
            let mut labels = labels.clone();
            let below = labels.remove("le").unwrap_or_else(|| panic!("{name}: {labels:?}"));
            let below = if below == "+Inf" { f64::INFINITY } else { below.parse().unwrap() };
            of.entry(labels).or_default().push((below, *count));
        }
    }
    let counted: BTreeSet<&Labels> = family
        .samples
        .keys()
        .filter(|(suffix, _)| suffix != "_bucket")
        .map(|(_, labels)| labels)
        .collect();
    assert_eq!(counted, of.keys().collect(), "{name}");
    for (labels, mut buckets) in of {
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(buckets.is_sorted_by(|one, other| one.1 <= other.1), "{name}: {buckets:?}");
        let last = buckets.last().copied();
        let count = family.samples[&("_count".to_owned(), labels)];
        assert_eq!(last, Some((f64::INFINITY, count)), "{name}");
    }
}
