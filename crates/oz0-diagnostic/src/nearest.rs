//! The known word that an unknown one was likely meant to be.

/// Longer words are not compared: the work grows with the product of both lengths.
const LONGEST: usize = 100;

/// The nearest of the known words, or nothing where none is near enough to be worth a hint.
///
/// Near is: equal but for case, `-`, `_` and spaces; else a third of the letters changed at most (a
/// swap of neighbours is one change), and never more than a word of one or two letters can bear;
/// else a known word that begins with an unknown one of at least three letters.
pub fn did_you_mean<'a>(
    unknown: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = fold(unknown);
    let length = wanted.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let mut best: Option<(Rank, &'a str)> = None;
    for candidate in known {
        if candidate == unknown {
            continue;
        }
        let Some(rank) = rank(&wanted, length, candidate) else { continue };
        if best.as_ref().is_none_or(|(other, _)| rank < *other) {
            best = Some((rank, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Changes, then (scaled) how unlike the words begin, then the length.
type Rank = (usize, u32, usize);

fn rank(wanted: &str, length: usize, candidate: &str) -> Option<Rank> {
    let folded = fold(candidate);
    let size = folded.chars().count();
    if size > LONGEST {
        return None;
    }
    let changes = strsim::osa_distance(wanted, &folded);
    let allowed = if length.max(size) < 3 { 0 } else { (length.max(size) / 3).max(1) };
    let prefix = length >= 3 && folded.starts_with(wanted);
    if changes > allowed && !prefix {
        return None;
    }
    // Between 0 and 1, so the product fits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the likeness lies between 0 and 1"
    )]
    let unlike = ((1.0 - strsim::jaro_winkler(wanted, &folded)) * 1e6) as u32;
    Some((changes.min(allowed + 1), unlike, size))
}

fn fold(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}
