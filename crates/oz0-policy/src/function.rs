//! What kind of call a function makes, by the hints of its listing with the manifest's overrides merged.

use crate::Approval;

/// MCP's hints about a function, as far as somebody says them. A hint that is not said is not the same as one that says
/// `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// `readOnlyHint`: it changes nothing.
    pub read_only: Option<bool>,
    /// `destructiveHint`: it may delete or overwrite.
    pub destructive: Option<bool>,
    /// `openWorldHint`: it reaches the world outside.
    pub open_world: Option<bool>,
}

impl Hints {
    /// These hints, each replaced by the one of `over` where that says it.
    #[must_use]
    pub fn merged(self, over: Self) -> Self {
        Self {
            read_only: over.read_only.or(self.read_only),
            destructive: over.destructive.or(self.destructive),
            open_world: over.open_world.or(self.open_world),
        }
    }

    /// Every way in which the three can be said and left out.
    pub fn every() -> impl Iterator<Item = Self> {
        const SAID: [Option<bool>; 3] = [None, Some(false), Some(true)];
        SAID.into_iter().flat_map(|read_only| {
            SAID.into_iter().flat_map(move |destructive| {
                SAID.into_iter().map(move |open_world| Self { read_only, destructive, open_world })
            })
        })
    }

    /// The type that these hints make of a function, the strictest that fits.
    ///
    /// A server that says both that a function only reads and that it may destroy is believed in the worse of the two.
    pub fn function_type(self) -> FunctionType {
        match (self.destructive, self.read_only) {
            (Some(true), _) => FunctionType::Destructive,
            (None, None) => FunctionType::Unknown,
            (_, Some(true)) => FunctionType::Read,
            _ if self.open_world == Some(false) => FunctionType::Write,
            _ => FunctionType::SendsOut,
        }
    }
}

/// What kind of call a function makes. Ordered: the strictest comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionType {
    /// It says that it only reads.
    Read,
    /// A write that says that it stays inside.
    Write,
    /// A write that does not.
    SendsOut,
    /// Nothing is said of it; so is a function that nobody here can see.
    Unknown,
    /// It says that it may delete or overwrite.
    Destructive,
}

impl FunctionType {
    /// Every type, the strictest last.
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::SendsOut, Self::Unknown, Self::Destructive];

    /// The type's name, as people read it: `Sends out`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Write",
            Self::SendsOut => "Sends out",
            Self::Unknown => "Unknown",
            Self::Destructive => "Destructive",
        }
    }

    /// Whether a call may change something, or take data somewhere.
    pub fn sends(self) -> bool {
        self != Self::Read
    }
}

/// A function, as far as a decision about its calls looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its tool's ID.
    pub tool: &'a str,
    /// Its name as its server lists it.
    pub name: &'a str,
    /// Its type.
    pub kind: FunctionType,
    /// Whether it stands under its tool's `requires_approval`.
    pub requires_approval: bool,
    /// Its tool's `approval:`.
    pub approval: Approval,
}
