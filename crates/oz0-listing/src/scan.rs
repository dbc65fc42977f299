//! Looking at the bytes of text eight at a time.
//!
//! Most strings of a listing are short (names, keywords) and most bytes of it plain ASCII, and both
//! reading and writing must look at each. A word of eight bytes is tested with a few operations;
//! the tests are the well-known ones for a zero byte in a word (Warren, Hacker's Delight, 6-1). A
//! borrow can only flag bytes above one that is flagged rightly, so the lowest flag is exact, and so
//! is whether there is any.

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * limit as u64) & !word & HIGHS
}

const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * byte as u64), 1)
}

/// The first byte that does not stand for itself in a JSON string: `"`, `\` or a control of ASCII.
pub(crate) fn special(bytes: &[u8]) -> Option<usize> {
    let flags = |word: u64| below(word, b' ') | equal(word, b'"') | equal(word, b'\\');
    let at = |flags: u64| flags.trailing_zeros() as usize / 8;
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = flags(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(index * 8 + at(found));
        }
    }
    // What is left, by a last word that overlaps the one before it, where there is one.
    if let Some(word) = bytes.last_chunk::<8>() {
        let found = flags(u64::from_le_bytes(*word));
        return (found != 0).then(|| bytes.len() - 8 + at(found));
    }
    bytes.iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\')
}

/// Whether all of it is printable ASCII, TAB or LF: nothing that could be invisible.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n');
    let word_is_plain = |word: [u8; 8]| {
        let bits = u64::from_le_bytes(word);
        (bits & HIGHS) | below(bits, b' ') | equal(bits, 0x7F) == 0
            || word.into_iter().all(is_plain)
    };
    let (words, _) = bytes.as_chunks::<8>();
    match bytes.last_chunk::<8>() {
        Some(last) => words.iter().all(|word| word_is_plain(*word)) && word_is_plain(*last),
        None => bytes.iter().all(|&byte| is_plain(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_plain, special};

    /// Every byte at every place of texts of every length up to three words.
    #[test]
    fn words_are_tested_as_bytes_are() {
        for len in 0..24 {
            for at in 0..len {
                for byte in 0..=u8::MAX {
                    let mut bytes = vec![b'x'; len];
                    bytes[at] = byte;
                    let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
                    assert_eq!(special(&bytes), is_special.then_some(at), "{bytes:?}");
                    let plain = matches!(byte, b' '..=b'~' | b'\t' | b'\n');
                    assert_eq!(is_plain(&bytes), plain, "{bytes:?}");
                    // And with others behind it.
                    bytes[at..].fill(byte);
                    assert_eq!(special(&bytes), is_special.then_some(at), "{bytes:?}");
                    assert_eq!(is_plain(&bytes), plain, "{bytes:?}");
                }
            }
        }
    }
}
