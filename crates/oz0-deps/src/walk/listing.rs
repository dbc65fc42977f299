//! What a folder holds, by name and kind.

/// What an entry of a folder is, without a link being followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket, a device: in words.
    Special(&'static str),
}

/// The entries of one folder. The memory is used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    names: Vec<u8>,
    entries: Vec<(usize, usize, Kind)>,
}

impl Listing {
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
    }

    pub(crate) fn push(&mut self, name: &[u8], kind: Kind) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.entries.push((start, self.names.len(), kind));
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], Kind)> {
        self.entries.iter().map(|(start, end, kind)| (&self.names[*start..*end], *kind))
    }

    /// Whether something of this name is there, whatever it is.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.iter().any(|(other, _)| other == name.as_bytes())
    }

    /// Sorts by the paths of what is in the folder: a folder's name counts with the `/` behind it.
    pub(crate) fn sort(&mut self) {
        let names = &self.names;
        let key = |(start, end, kind): &(usize, usize, Kind)| {
            let slash = (*kind == Kind::Folder).then_some(b'/');
            names[*start..*end].iter().copied().chain(slash)
        };
        self.entries.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    }
}
