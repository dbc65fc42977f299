//! The parser's reasons, in words for the author of a text.

use granit_parser::ErrorKind;

/// What is wrong and what to do about it.
pub(crate) fn explain(kind: &ErrorKind, words: &str) -> (String, Option<&'static str>) {
    let (message, help) = match kind {
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("this line is no `key: value`", Some("put a `:` and a space behind the key"))
        }
        ErrorKind::MappingValueNotAllowed => (
            "a mapping cannot begin here",
            Some("quote a text that holds `: `, or put the nested mapping on lines of its own"),
        ),
        ErrorKind::ExpectedBlockMappingKey => {
            ("a key of the mapping was expected here", Some("indent it like the keys before it"))
        }
        ErrorKind::ExpectedBlockSequenceEntry => {
            ("a `- ` of the sequence was expected here", Some("indent it like the items before it"))
        }
        ErrorKind::UnexpectedCharacter { character } => {
            let message = format!("a text cannot begin with `{character}`");
            return (message, Some("put it in quotes"));
        }
        ErrorKind::InvalidColonPlacement => {
            ("a `:` cannot stand here", Some("quote a text that holds `: `"))
        }
        ErrorKind::MisplacedFlowCollectionEnd => ("this bracket closes nothing", None),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => (
            "this quote is never closed",
            Some("close it, or double a quote that is meant as text"),
        ),
        ErrorKind::UnclosedFlowCollection { open } => {
            let message = format!("this `{open}` is never closed");
            return (message, None);
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            return (format!("`{open}` is closed by `{close}`"), None);
        }
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::ExpectedFlowSequenceSeparator => {
            ("a `,` or `]` was expected here", None)
        }
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::ExpectedFlowMappingSeparator => {
            ("a `,` or `}` was expected here", None)
        }
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::InvalidFlowScalarIndent => ("the indentation is wrong here", None),
        ErrorKind::UnknownQuotedScalarEscape => (
            "there is no such escape in a double-quoted text",
            Some("write `\\\\` for a backslash, or use single quotes"),
        ),
        ErrorKind::CommentNotSeparated => {
            ("a comment needs a space before its `#`", Some("quote the text if `#` belongs to it"))
        }
        ErrorKind::UndeclaredTagHandle => {
            ("this tag's handle was not declared", Some("quote the text if it begins with `!`"))
        }
        _ => return (words.to_owned(), None),
    };
    (message.to_owned(), help)
}

/// Whether the parser gave up because of a tab.
pub(crate) fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
    )
}

/// Whether a wrong indentation can be what the parser gave up for.
pub(crate) fn is_indentation(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidIndentation
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::ExpectedBlockSequenceEntry
            | ErrorKind::MappingValueNotAllowed
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::InvalidSimpleKey
            | ErrorKind::BlockSequenceEntryNotAllowed
            | ErrorKind::MappingKeyNotAllowed
            | ErrorKind::ExpectedDocumentStart
    )
}

/// Whether a line of another kind of collection, or of another depth, can be what the parser gave up
/// for.
pub(crate) fn is_other_collection(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidIndentation
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::ExpectedBlockSequenceEntry
    )
}
