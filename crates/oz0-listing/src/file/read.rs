//! Reading the two files, strictly.

use std::fmt::Display;
use std::str::FromStr;

use super::{FileError, LISTING_FORMAT, ListingFile, SNAPSHOT_FORMAT, SnapshotFile};
use crate::json::{Json, MAX_DEPTH, Object, locate, parse_borrowed};
use crate::listing::NotFinal;
use crate::{
    Function, FunctionId, LeftOut, Listing, ListingHash, MEMBERS, Pointer, ToolId, escape, unstable,
};

/// A listing stands this deep in its file, and may be as deep as any other in itself.
const FILE_DEPTH: usize = MAX_DEPTH + 3;

/// What to do about a file that a tool wrote, and about one that a person did.
const MEASURE: &str = "run `oz0 plugin test`, which writes tools.listing.json anew";
const CORRECT: &str = "correct the snapshot by hand; the file's format is in its documentation";

impl ListingFile {
    /// Reads the file's text.
    pub fn read(text: &str) -> Result<Self, FileError> {
        let reader = Reader { text, help: MEASURE };
        let root = reader.root(LISTING_FORMAT)?;
        let here = Pointer::root();
        let members = ["format", "functions", "left_out", "source_digest"];
        reader.members(&root, &here, &members, &members)?;
        let functions = reader.functions(&root, None)?;
        let left_out = reader.left_out(&root)?;
        let source_digest = reader.parsed(&root, &here, "source_digest")?;
        Ok(Self { source_digest, functions, left_out })
    }
}

impl SnapshotFile {
    /// Reads the file's text.
    pub fn read(text: &str) -> Result<Self, FileError> {
        let reader = Reader { text, help: CORRECT };
        let root = reader.root(SNAPSHOT_FORMAT)?;
        let here = Pointer::root();
        let members = ["format", "functions", "listed_from", "tool", "url"];
        reader.members(&root, &here, &members, &["format", "functions", "tool"])?;
        let tool: ToolId = reader.parsed(&root, &here, "tool")?;
        let optional = |name: &str| match root.get(name) {
            None => Ok(None),
            Some(_) => reader.string(&root, &here, name).map(Some),
        };
        Ok(Self {
            listed_from: optional("listed_from")?,
            url: optional("url")?,
            functions: reader.functions(&root, Some(&tool))?,
            tool,
        })
    }
}

struct Reader<'t> {
    text: &'t str,
    help: &'static str,
}

impl Reader<'_> {
    fn error_at(&self, offset: usize, message: String) -> FileError {
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        FileError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            offset,
            message,
            help: self.help.to_owned(),
        }
    }

    fn error(&self, at: &Pointer, message: impl Into<String>) -> FileError {
        self.error_at(locate(self.text, at, FILE_DEPTH), message.into())
    }

    fn root(&self, format: &str) -> Result<Object, FileError> {
        let root = parse_borrowed(self.text, FILE_DEPTH)
            .map_err(|error| self.error_at(error.offset, error.kind.to_string()))?
            .into_owned();
        let here = Pointer::root();
        let Json::Object(members) = root else {
            let message = format!("expected an object, and this is {}", root.kind());
            return Err(self.error(&here, message));
        };
        let found = self.string(&members, &here, "format")?;
        if found != format {
            let found = escape::line_within(&found, 64);
            let mut error = self.error(
                &here.child("format"),
                format!("the format is `{found}`, and this version of oz0 reads `{format}`"),
            );
            let (family, _) = format.rsplit_once(".v").unwrap_or((format, ""));
            if found.starts_with(&format!("{family}.v")) {
                error.help = format!("use the version of oz0 that wrote it, or {}", self.help);
            }
            return Err(error);
        }
        Ok(members)
    }

    fn members(
        &self,
        object: &Object,
        at: &Pointer,
        known: &[&str],
        required: &[&str],
    ) -> Result<(), FileError> {
        if let Some(unknown) = object.names().find(|name| !known.contains(name)) {
            let message = format!(
                "unknown member `{}`; known are {}",
                escape::line_within(unknown, 64),
                known.join(", ")
            );
            return Err(self.error(&at.child(unknown), message));
        }
        match required.iter().find(|name| object.get(name).is_none()) {
            Some(missing) => Err(self.error(at, format!("the member `{missing}` is missing"))),
            None => Ok(()),
        }
    }

    fn object<'v>(&self, value: &'v Json, at: &Pointer) -> Result<&'v Object, FileError> {
        value.as_object().ok_or_else(|| {
            self.error(at, format!("expected an object, and this is {}", value.kind()))
        })
    }

    fn array<'o>(&self, root: &'o Object, name: &str) -> Result<&'o [Json], FileError> {
        let at = Pointer::of([name]);
        match root.get(name) {
            Some(Json::Array(items)) => Ok(items),
            Some(other) => {
                let message = format!("`{name}` must be an array, and is {}", other.kind());
                Err(self.error(&at, message))
            }
            None => Err(self.error(&Pointer::root(), format!("the member `{name}` is missing"))),
        }
    }

    fn string(&self, object: &Object, at: &Pointer, name: &str) -> Result<String, FileError> {
        match object.get(name) {
            // What people are shown from here is one line, and shows all that it holds.
            Some(Json::String(text)) if escape::line(text) != text.as_str() => {
                let message = format!("`{name}` holds control or invisible characters");
                Err(self.error(&at.child(name), message))
            }
            Some(Json::String(text)) => Ok(text.clone()),
            Some(other) => {
                let message = format!("`{name}` must be a string, and is {}", other.kind());
                Err(self.error(&at.child(name), message))
            }
            None => Err(self.error(at, format!("the member `{name}` is missing"))),
        }
    }

    fn parsed<T: FromStr<Err: Display>>(
        &self,
        object: &Object,
        at: &Pointer,
        name: &str,
    ) -> Result<T, FileError> {
        self.string(object, at, name)?
            .parse()
            .map_err(|error| self.error(&at.child(name), format!("`{name}`: {error}")))
    }

    fn functions(&self, root: &Object, tool: Option<&ToolId>) -> Result<Vec<Function>, FileError> {
        let mut functions: Vec<Function> = Vec::new();
        for (at, value) in self.array(root, "functions")?.iter().enumerate() {
            let at = Pointer::of(["functions".to_owned(), at.to_string()]);
            let function = self.function(value, &at)?;
            let name = at.child("name");
            if let Some(tool) = tool.filter(|tool| function.id.tool() != **tool) {
                let message = format!("`{}` is no function of the tool `{tool}`", function.id);
                return Err(self.error(&name, message));
            }
            match functions.last().map(|last| last.id.cmp(&function.id)) {
                Some(std::cmp::Ordering::Equal) => {
                    let message = format!("the function `{}` is repeated", function.id);
                    return Err(self.error(&name, message));
                }
                Some(std::cmp::Ordering::Greater) => {
                    let message = format!(
                        "the functions are not in the order of their names: `{}` stands too late",
                        function.id
                    );
                    return Err(self.error(&name, message));
                }
                _ => functions.push(function),
            }
        }
        Ok(functions)
    }

    fn function(&self, value: &Json, at: &Pointer) -> Result<Function, FileError> {
        let object = self.object(value, at)?;
        let required = ["name", "hash", "listing"];
        self.members(
            object,
            at,
            &["hash", "listing", "name", "uncallable", "unstable"],
            &required,
        )?;
        let id: FunctionId = self.parsed(object, at, "name")?;
        let hash: ListingHash = self.parsed(object, at, "hash")?;
        let unstable = self.unstable(object, at)?;
        let uncallable = match object.get("uncallable") {
            None => None,
            Some(_) => Some(self.string(object, at, "uncallable")?),
        };
        let place = at.child("listing");
        let listing = object.get("listing").cloned().unwrap_or(Json::Null);
        let listing = Listing::reread(listing, uncallable).map_err(|error| match error {
            NotFinal::Unlistable(error) => self.error(&place, format!("the listing: {error}")),
            NotFinal::Member(other) => self.error(
                &place.child(other.as_str()),
                format!(
                    "a listing has no member `{}`; it has {}",
                    escape::line_within(&other, 64),
                    MEMBERS.join(", ")
                ),
            ),
            NotFinal::NotEscaped => self.error(
                &place,
                "the listing holds invisible characters, which a listing has written out",
            ),
        })?;
        if listing.name() != id.function() {
            let message = format!(
                "the listing is of `{}`, and the function's name is `{id}`",
                escape::line_within(listing.name(), 128)
            );
            return Err(self.error(&place.child("name"), message));
        }
        if listing.hash() != hash {
            let message = format!(
                "the hash of `{id}` is not its listing's, which is {}: one of them was edited",
                listing.hash()
            );
            return Err(self.error(&at.child("hash"), message));
        }
        if let Some(pointer) = unstable.iter().find(|pointer| stands_in(&listing, pointer)) {
            let message =
                format!("`{pointer}` is unstable, and stands in the listing all the same");
            return Err(self.error(&place, message));
        }
        Ok(Function {
            id,
            hash,
            uncallable: listing.uncallable().map(str::to_owned),
            listing,
            unstable,
        })
    }

    fn unstable(&self, object: &Object, at: &Pointer) -> Result<Vec<Pointer>, FileError> {
        let at = at.child("unstable");
        let Some(value) = object.get("unstable") else {
            return Ok(Vec::new());
        };
        let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
            return Err(self.error(&at, "`unstable` must be an array of JSON pointers, not empty"));
        };
        let mut pointers: Vec<Pointer> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let at = at.child(index.to_string());
            let text = item.as_str().ok_or_else(|| {
                self.error(&at, format!("expected a JSON pointer, and this is {}", item.kind()))
            })?;
            let pointer: Pointer =
                text.parse().map_err(|error| self.error(&at, format!("{error}")))?;
            unstable::check(&pointer).map_err(|error| self.error(&at, error.to_string()))?;
            if pointers.last().is_some_and(|last| *last >= pointer) {
                return Err(self.error(&at, "the pointers are not sorted, each once"));
            }
            pointers.push(pointer);
        }
        Ok(pointers)
    }

    fn left_out(&self, root: &Object) -> Result<Vec<LeftOut>, FileError> {
        let mut entries: Vec<LeftOut> = Vec::new();
        for (at, value) in self.array(root, "left_out")?.iter().enumerate() {
            let at = Pointer::of(["left_out".to_owned(), at.to_string()]);
            let object = self.object(value, &at)?;
            let members = ["name", "reason", "tool"];
            self.members(object, &at, &members, &members)?;
            let entry = LeftOut {
                tool: self.parsed(object, &at, "tool")?,
                name: self.string(object, &at, "name")?,
                reason: self.string(object, &at, "reason")?,
            };
            if entries.last().is_some_and(|last| *last > entry) {
                return Err(self.error(&at, "what is left out is not sorted"));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// Whether something stands at a pointer that should have been cut.
fn stands_in(listing: &Listing, pointer: &Pointer) -> bool {
    listing.value().at(pointer).is_some()
}
