//! `oz0 call`: one call, as a client would make it, through the same checks.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};

use anyhow::{Context, Result};
use oz0_api::approval::Approval;
use oz0_api::call::Ask;
use oz0_api::plugin::{CatalogFunction, FunctionState};
use oz0_api::{Client, Code, Problem};
use oz0_listing::{FunctionId, escape};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::approvals;
use crate::cli;
use crate::config::Settings;
use crate::edge;
use crate::exit::{Exit, Refused, WrongUsage};
use crate::output::Output;

pub(crate) fn run(arguments: &cli::Call, settings: &Settings, output: Output) -> Result<Exit> {
    let given = object(&read(&arguments.arguments)?)?;
    if let Some(shown) = written_out(&given) {
        output.say(&format!(
            "note: the arguments hold characters that nobody sees; written out they are\n  {shown}"
        ));
    }
    edge::ask(settings, async |client| {
        let function = function(&client, &arguments.function).await?;
        let ask = Ask {
            function,
            arguments: given,
            timeout_ms: arguments.timeout.map(|seconds| seconds * 1000),
            node: arguments.node.clone(),
        };
        let tell = |approval: &Approval| {
            output.say(&format!(
                "{} waits for a person, since {}: oz0 approvals approve {}\nto let it through from now on: oz0 policy set \
                 {} allow",
                approval.function,
                escape::line(&approval.why),
                approvals::short(&approval.id),
                approval.function
            ));
        };
        let call = client.call_telling(&ask, tell).await?;
        if let Some(problem) = call.problem {
            return Err(oz0_api::ClientError::from(problem).into());
        }
        let result = call.result.ok_or_else(|| {
            oz0_api::ClientError::from(Problem::new(
                Code::Internal,
                format!("the call of {} ended without a result", ask.function),
            ))
        })?;
        print(&result, arguments.json, output)
    })
}

/// The text of the arguments: as it stands, from standard input, or from a file.
fn read(given: &str) -> Result<String> {
    if given == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("cannot read the arguments from standard input")?;
        return Ok(text);
    }
    match given.strip_prefix('@') {
        Some(path) => fs::read_to_string(path).with_context(|| format!("cannot read {path}")),
        None => Ok(given.to_owned()),
    }
}

fn object(text: &str) -> Result<Box<RawValue>> {
    let wrong = |what: String| WrongUsage(format!("the arguments are no JSON object: {what}"));
    let raw: Box<RawValue> =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if raw.get().starts_with('{') {
        Ok(raw)
    } else {
        Err(wrong(format!("`{}`", escape::line_within(raw.get(), 80))).into())
    }
}

/// The arguments as a person is shown them, where that differs from how they look.
fn written_out(raw: &RawValue) -> Option<String> {
    let value: Value = serde_json::from_str(raw.get()).ok()?;
    hides(&value).then(|| shown(&value))
}

fn hides(value: &Value) -> bool {
    match value {
        Value::String(text) => escape::has_invisible(text),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(members) => {
            members.iter().any(|(name, value)| escape::has_invisible(name) || hides(value))
        }
        _ => false,
    }
}

/// JSON in which what nobody sees stands in the notation of listings, also where JSON would have escaped it.
fn shown(value: &Value) -> String {
    fn written(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(escape::text(text).into_owned()),
            Value::Array(items) => Value::Array(items.iter().map(written).collect()),
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| (escape::text(name).into_owned(), written(value)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
    // A backslash of the notation is JSON's as well, and would stand there twice.
    written(value).to_string().replace("\\\\u{", "\\u{")
}

/// The function by its ID, or by the name that models know it by. That name has no `.`, and an ID always has one.
async fn function(client: &Client, name: &str) -> Result<FunctionId> {
    if name.contains('.') {
        return name.parse().map_err(|error: oz0_listing::IdError| {
            WrongUsage(format!(
                "`{}` is no function's name: {error}",
                escape::line_within(name, 128)
            ))
            .into()
        });
    }
    let catalog = client.catalog().await?;
    // Several can have the name by their IDs, and it is one's at most; where none has it, its refusal says why.
    let named = || catalog.functions.iter().filter(|function| function.model_name == name);
    let left_out =
        |function: &&CatalogFunction| matches!(function.state, FunctionState::LeftOut { .. });
    match named().find(|function| !left_out(function)).or_else(|| named().next()) {
        Some(function) => Ok(function.id.clone()),
        None => {
            let name = escape::line_within(name, 128);
            let known = catalog.functions.iter().map(|function| function.model_name.as_str());
            let refused = Refused::new(format!("no function is known to models as `{name}`"));
            Err(match oz0_diagnostic::did_you_mean(&name, known) {
                Some(close) => refused.hint(format!("did you mean {close}?")),
                None => refused.hint("`oz0 catalog` shows the functions"),
            }
            .into())
        }
    }
}

fn print(result: &RawValue, as_json: bool, output: Output) -> Result<Exit> {
    let value: Value = serde_json::from_str(result.get()).context("the result is no JSON")?;
    let failed = value.get("isError").and_then(Value::as_bool) == Some(true);
    if as_json {
        output.raw_json(result)?;
    } else {
        let text = content(&value);
        if !text.is_empty() {
            output.data(&text)?;
        }
    }
    Ok(if failed { Exit::Findings } else { Exit::Done })
}

/// The content as text, one block after the other; what is no text is named. A result without content shows what it has.
fn content(result: &Value) -> String {
    let blocks =
        result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for block in blocks {
        let line = block_text(block);
        let _ = writeln!(text, "{}", line.strip_suffix('\n').unwrap_or(&line));
    }
    if blocks.is_empty()
        && let Some(structured) = result.get("structuredContent")
    {
        text = escape::text(&serde_json::to_string_pretty(structured).unwrap_or_default())
            .into_owned();
    }
    text
}

fn block_text(block: &Value) -> String {
    let member = |of: &Value, name: &str| {
        of.get(name).and_then(Value::as_str).map(|text| escape::line_within(text, 200).into_owned())
    };
    let kind = member(block, "type").unwrap_or_else(|| "untyped".to_owned());
    match (kind.as_str(), block.get("resource")) {
        ("text", _) => {
            escape::text(block.get("text").and_then(Value::as_str).unwrap_or_default()).into_owned()
        }
        ("resource", Some(resource)) => match resource.get("text").and_then(Value::as_str) {
            Some(text) => escape::text(text).into_owned(),
            None => format!("[resource {}]", member(resource, "uri").unwrap_or_default()),
        },
        ("resource_link", _) => format!("[link {}]", member(block, "uri").unwrap_or_default()),
        _ => {
            let of = member(block, "mimeType").map(|of| format!(" {of}")).unwrap_or_default();
            let base64 = block.get("data").and_then(Value::as_str).map_or(0, str::len);
            format!("[{kind}{of}, {base64} characters of base64; `--json` shows it]")
        }
    }
}
