//! What is secret at rest is sealed: encrypted and authenticated under a key that is not in the store.
//!
//! ChaCha20-Poly1305 (RFC 8439) with a nonce drawn for each value. What a value is of (its kind, its plugin, its name) is
//! authenticated with it, so that a row that somebody moves to another plugin's name opens for nobody. The key is 256 random
//! bits, in `seal.key` beside the store or given from outside; each value says by the key's fingerprint which one it needs.
//! A copy of the store alone gives nothing of it away.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The bytes of a key.
const KEY: usize = 32;

/// The form that a sealed value has.
const FORM: &str = "oz0.sealed.v1";

/// A key: 32 bytes, written as 64 hex digits or in base64.
#[derive(Clone)]
pub struct SealKey(Zeroizing<[u8; KEY]>);

/// A text that is no key. What it was is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no key: a key is 32 random bytes, as 64 hex digits or in base64")]
pub struct NoKey;

impl FromStr for SealKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let text = text.trim();
        let bytes = if text.len() == KEY * 2 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            let digit = |at: usize| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16);
            (0..KEY).map(digit).collect::<Result<Vec<u8>, _>>().map_err(|_| NoKey)?
        } else {
            STANDARD.decode(text).map_err(|_| NoKey)?
        };
        let bytes = Zeroizing::new(bytes);
        let mut key = Zeroizing::new([0; KEY]);
        if bytes.len() != KEY || bytes.iter().all(|byte| *byte == bytes[0]) {
            return Err(NoKey);
        }
        key.copy_from_slice(&bytes);
        Ok(Self(key))
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

impl SealKey {
    pub(crate) fn from_random(bytes: [u8; KEY]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// As its file has it.
    pub(crate) fn written(&self) -> Zeroizing<String> {
        use std::fmt::Write as _;
        let mut text = Zeroizing::new(String::with_capacity(KEY * 2 + 1));
        for byte in self.0.iter() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        text
    }

    /// What the key is known by. Of 256 random bits a hash gives nothing away.
    pub(crate) fn fingerprint(&self) -> String {
        let hash =
            Sha256::new().chain_update(b"oz0.seal.key.v1\0").chain_update(*self.0).finalize();
        URL_SAFE_NO_PAD.encode(&hash[..9])
    }
}

/// What a sealed value is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    /// What kind of value.
    pub(crate) kind: &'static str,
    /// Whose.
    pub(crate) plugin: &'a str,
    /// Which.
    pub(crate) name: &'a str,
}

impl Of<'_> {
    /// The bytes that are authenticated with the value: each part bounded, so that no two read alike.
    fn bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in [FORM, self.kind, self.plugin, self.name] {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }
}

/// Why a value cannot be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The store has sealed values, and the key is not there.
    #[error("the key that secrets are sealed with is not in {}", .0.display())]
    Absent(PathBuf),
    /// What is in the key's file is no key.
    #[error("{} does not hold the key that secrets are sealed with", .0.display())]
    NoKey(PathBuf),
    /// Other edges over the same database seal with another key.
    #[error(
        "the edges over this database seal with another key ({needs}) than this edge has ({has})"
    )]
    OthersKey {
        /// The fingerprint of theirs.
        needs: String,
        /// That of this edge's.
        has: String,
    },
    /// It was sealed with another key.
    #[error("it was sealed with another key ({needs}) than this edge has ({has})")]
    OtherKey {
        /// The fingerprint of the one it needs.
        needs: String,
        /// That of the one there is.
        has: String,
    },
    /// It is not what was sealed for this name.
    #[error("what is kept is not what was sealed for this name")]
    Tampered,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    Random,
}

/// Seals and opens.
#[derive(Debug)]
pub(crate) enum Seal {
    /// With this key.
    Key { key: Box<LessSafeKey>, fingerprint: String },
    /// Not at all, for this reason.
    None(SealError),
}

impl Seal {
    pub(crate) fn with(key: &SealKey) -> Self {
        let unbound =
            UnboundKey::new(&CHACHA20_POLY1305, &*key.0).expect("a key of its length is one");
        Self::Key { key: Box::new(LessSafeKey::new(unbound)), fingerprint: key.fingerprint() }
    }

    fn key(&self) -> Result<(&LessSafeKey, &str), SealError> {
        match self {
            Self::Key { key, fingerprint } => Ok((key, fingerprint)),
            Self::None(why) => Err(why.clone()),
        }
    }

    /// Seals a value.
    pub(crate) fn seal(&self, of: Of<'_>, plain: &[u8]) -> Result<String, SealError> {
        let (key, fingerprint) = self.key()?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| SealError::Random)?;
        let mut bytes = Vec::with_capacity(plain.len() + CHACHA20_POLY1305.tag_len());
        bytes.extend_from_slice(plain);
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(of.bytes()),
            &mut bytes,
        )
        .map_err(|_| SealError::Tampered)?;
        let (nonce, bytes) = (URL_SAFE_NO_PAD.encode(nonce), URL_SAFE_NO_PAD.encode(bytes));
        Ok(format!("{FORM}:{fingerprint}:{nonce}:{bytes}"))
    }

    /// Opens what was sealed for this.
    pub(crate) fn open(&self, of: Of<'_>, sealed: &str) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (key, fingerprint) = self.key()?;
        let parts: Vec<&str> = sealed.split(':').collect();
        let [FORM, needs, nonce, bytes] = parts[..] else { return Err(SealError::Tampered) };
        if needs != fingerprint {
            let needs = oz0_listing::escape::line_within(needs, 20).into_owned();
            return Err(SealError::OtherKey { needs, has: fingerprint.to_owned() });
        }
        let nonce: [u8; NONCE_LEN] = URL_SAFE_NO_PAD
            .decode(nonce)
            .ok()
            .and_then(|nonce| nonce.try_into().ok())
            .ok_or(SealError::Tampered)?;
        let bytes = URL_SAFE_NO_PAD.decode(bytes).map_err(|_| SealError::Tampered)?;
        let mut bytes = Zeroizing::new(bytes);
        let length = key
            .open_in_place(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(of.bytes()),
                bytes.as_mut_slice(),
            )
            .map_err(|_| SealError::Tampered)?
            .len();
        bytes.truncate(length);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> SealKey {
        SealKey::from_random(Sha256::digest(text).into())
    }

    const OF: Of<'static> = Of { kind: "secret", plugin: "team", name: "TOKEN" };

    proptest! {
        #[test]
        fn what_is_sealed_opens_for_its_name_alone(plain: Vec<u8>, at: prop::sample::Index) {
            let seal = Seal::with(&key("one"));
            let sealed = seal.seal(OF, &plain).unwrap();
            prop_assert_eq!(&*seal.open(OF, &sealed).unwrap(), &plain);
            prop_assert_ne!(&seal.seal(OF, &plain).unwrap(), &sealed);
            for other in [
                Of { kind: "connection", ..OF },
                Of { plugin: "tea", name: "mTOKEN", ..OF },
                Of { name: "TOKEN2", ..OF },
            ] {
                prop_assert_eq!(seal.open(other, &sealed), Err(SealError::Tampered));
            }
            let other = Seal::with(&key("two"));
            let is_other = matches!(other.open(OF, &sealed), Err(SealError::OtherKey { .. }));
            prop_assert!(is_other);
            let mut bytes = sealed.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let edited = String::from_utf8(bytes).unwrap();
            // The last character of base64 has bits that count for nothing.
            if let Ok(opened) = seal.open(OF, &edited) {
                prop_assert_eq!(&*opened, &plain);
            }
        }
    }

    #[test]
    fn a_key_is_read_as_it_is_written_and_nothing_else_is_one() {
        let one = key("one");
        let read: SealKey = one.written().parse().unwrap();
        assert_eq!(*read.0, *one.0);
        let base64: SealKey = STANDARD.encode(*one.0).parse().unwrap();
        assert_eq!(*base64.0, *one.0);
        assert_eq!(format!("{one:?}"), "SealKey");
        for text in ["", "secret", &"0".repeat(64), &"ab".repeat(31), &STANDARD.encode([7; 16])] {
            assert!(text.parse::<SealKey>().is_err(), "{text}");
        }
    }
}
