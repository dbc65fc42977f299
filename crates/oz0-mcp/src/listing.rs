//! `tools/list`, every page of it, with the functions left as the server wrote them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::message::{Members, string};

/// What a server listed.
#[derive(Clone, Debug, Default)]
pub struct RawListing {
    /// Each entry of `tools`, in the server's order, as the server wrote it. It may be anything that is JSON: one
    /// malformed function is for its reader to leave out, and never spoils the others.
    pub functions: Vec<Box<RawValue>>,
    /// Functions that must not be called over this transport. They are not among `functions`.
    pub left_out: Vec<LeftOut>,
    /// How many pages were read.
    pub pages: usize,
    /// How many bytes their results had.
    pub bytes: usize,
}

/// A function that must not be called over this transport: over modern HTTP, one whose `x-mcp-header` marks are
/// invalid (MCP 2026-07-28, `server/tools`).
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The entry as the server wrote it.
    pub function: Box<RawValue>,
    /// What is wrong with it.
    pub reason: String,
}

/// One page of a listing.
pub(crate) struct Page<'a> {
    pub(crate) tools: Vec<&'a RawValue>,
    pub(crate) cursor: Option<String>,
}

/// The page has more functions than there was room for.
pub(crate) enum PageError {
    TooMany,
    Shape(String),
}

impl<'a> Page<'a> {
    /// Reads a page's result, taking at most `room` functions.
    pub(crate) fn read(result: &'a RawValue, room: usize) -> Result<Self, PageError> {
        let shape = |what: &str| PageError::Shape(what.to_owned());
        let members = Members::read(result.get())
            .map_err(|error| PageError::Shape(format!("its result is no object: {error}")))?;
        if let Some(name) = members.repeated(&["tools", "nextCursor", "resultType"]) {
            return Err(PageError::Shape(format!(
                "the member `{name}` of its result stands twice"
            )));
        }
        match members.get("resultType").map(|kind| string(kind).unwrap_or_default()) {
            None => {}
            Some(kind) if kind == "complete" => {}
            Some(_) => return Err(shape("its `resultType` is not \"complete\"")),
        }
        let tools = members.get("tools").ok_or_else(|| shape("its result has no `tools`"))?;
        if !tools.get().starts_with('[') {
            return Err(shape("`tools` of its result is not an array"));
        }
        let cursor = match members.get("nextCursor") {
            None => None,
            Some(cursor) if cursor.get() == "null" => None,
            Some(cursor) => Some(
                string(cursor)
                    .ok_or_else(|| shape("`nextCursor` of its result is not a string"))?
                    .into_owned(),
            ),
        };
        let mut deserializer = serde_json::Deserializer::from_str(tools.get());
        let mut tools = Bounded { tools: Vec::new(), room, full: false };
        let read = (&mut deserializer).deserialize_seq(&mut tools);
        if tools.full {
            return Err(PageError::TooMany);
        }
        read.map_err(|error| PageError::Shape(format!("`tools` of its result: {error}")))?;
        Ok(Self { tools: tools.tools, cursor })
    }
}

/// Collects an array's items until there is no room for more.
struct Bounded<'a> {
    tools: Vec<&'a RawValue>,
    room: usize,
    full: bool,
}

impl<'de> Visitor<'de> for &mut Bounded<'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(tool) = seq.next_element()? {
            if self.tools.len() == self.room {
                self.full = true;
                return Err(serde::de::Error::custom("more functions than are taken"));
            }
            self.tools.push(tool);
        }
        Ok(())
    }
}

/// What `initialize` or `server/discover` said of the server.
#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// `serverInfo.name`: self-reported and not unique, for people only.
    pub name: Option<String>,
    /// `serverInfo.version`.
    pub version: Option<String>,
    /// `capabilities`, untouched.
    pub capabilities: Option<Box<RawValue>>,
}

impl ServerInfo {
    /// From the whole result; what is not shaped as MCP says is left out, since nothing is decided by it.
    pub(crate) fn read(result: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Info {
            #[serde(default)]
            name: Option<String>,
            #[serde(default)]
            version: Option<String>,
        }
        let members = Members::read(result.get()).ok();
        let get = |name: &str| members.as_ref().and_then(|members| members.get(name));
        // The modern era moved it into `_meta`.
        let info = get("serverInfo").or_else(|| {
            Members::read(get("_meta")?.get()).ok()?.get("io.modelcontextprotocol/serverInfo")
        });
        let info = info.and_then(|info| serde_json::from_str::<Info>(info.get()).ok());
        let (name, version) = info.map_or((None, None), |info| (info.name, info.version));
        Self { name, version, capabilities: get("capabilities").map(RawValue::to_owned) }
    }
}
