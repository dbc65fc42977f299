//! A small server on the [`Gateway`] trait, for other implementations' clients and for MCP's own conformance suite.
//!
//! `cargo run -p oz0-mcp --example serve` serves stdio; with an address, such as `127.0.0.1:7071`, Streamable HTTP.
//! Its functions have the names and answers that `@modelcontextprotocol/conformance` calls.

#![expect(clippy::print_stderr, reason = "an example says where it serves")]

use std::sync::Arc;
use std::time::Duration;

use oz0_mcp::RpcError;
use oz0_mcp::server::{
    AskError, Call, Functions, Gateway, HttpOptions, Principal, Server, ServerOptions,
    standard_streams,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::watch;

struct Sample {
    functions: Arc<Functions>,
    revision: watch::Sender<u64>,
}

/// A one-pixel PNG, and a WAV file without samples.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const NAMES: [&str; 23] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_sampling",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_reconnection",
    "test_trigger_tool_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_input_required_result_request_state",
    "test_input_required_result_multi_round",
];

fn functions(revision: u64) -> Functions {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": false,
    });
    let mut items: Vec<Box<str>> = NAMES
        .iter()
        .map(|name| {
            json!({"name": name, "description": name, "inputSchema": {"type": "object"}})
                .to_string()
                .into()
        })
        .collect();
    items.push(
        json!({"name": "json_schema_2020_12_tool", "description": "A schema with references", "inputSchema": schema})
            .to_string()
            .into(),
    );
    for name in ["test_custom_headers", "test_custom_headers_null", "test_headers"] {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "priority": {"type": "integer", "x-mcp-header": "Priority"},
            "verbose": {"type": "boolean", "x-mcp-header": "Verbose"},
            "query": {"type": "string"},
        }});
        items.push(
            json!({"name": name, "description": name, "inputSchema": schema}).to_string().into(),
        );
    }
    Functions { revision, items, public: true }
}

fn result(value: &Value) -> Result<Box<RawValue>, RpcError> {
    to_raw_value(value).map_err(|error| RpcError::new(-32_603, error.to_string()))
}

fn text(text: &str) -> Result<Box<RawValue>, RpcError> {
    result(&json!({"content": [{"type": "text", "text": text}]}))
}

fn form(properties: &Value) -> Value {
    json!({"message": "Please answer", "requestedSchema": {"type": "object", "properties": properties, "required": []}})
}

async fn ask(call: &Call, method: &str, params: &Value) -> Result<Box<RawValue>, RpcError> {
    let params = result(params)?;
    match call.asker().ask(method, Some(&params)).await {
        Ok(answer) => text(&format!("the client answered {answer}")),
        Err(AskError::Unable(capability)) => Err(RpcError {
            code: -32_021,
            message: "Missing required client capability".to_owned(),
            data: RawValue::from_string(format!(r#"{{"requiredCapabilities":{capability}}}"#)).ok(),
        }),
        Err(error) => Err(RpcError::new(-32_603, error.to_string())),
    }
}

impl Gateway for Sample {
    async fn list(&self, _: &Principal) -> Result<Arc<Functions>, RpcError> {
        let revision = *self.revision.borrow();
        if revision == self.functions.revision {
            return Ok(Arc::clone(&self.functions));
        }
        Ok(Arc::new(functions(revision)))
    }

    fn revision(&self, _: &Principal) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    #[expect(clippy::too_many_lines, reason = "a table of functions")]
    async fn call(&self, call: Call) -> Result<Box<RawValue>, RpcError> {
        let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
        let resource = json!({"type": "resource", "resource": {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."}});
        let sampling = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}], "maxTokens": 100});
        match call.name() {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => result(&json!({"content": [image]})),
            "test_audio_content" => result(
                &json!({"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}),
            ),
            "test_embedded_resource" => result(&json!({"content": [resource]})),
            "test_multiple_content_types" => result(
                &json!({"content": [{"type": "text", "text": "Multiple content types test:"}, image, resource]}),
            ),
            "test_error_handling" => result(
                &json!({"isError": true, "content": [{"type": "text", "text": "This tool intentionally returns an error for testing"}]}),
            ),
            "test_tool_with_progress" => {
                if let Some(progress) = call.progress() {
                    for step in [0.0, 50.0, 100.0] {
                        progress.report(step, Some(100.0), None);
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
                text("done")
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                for step in ["started", "processing", "completed"] {
                    call.log(&result(&json!({"level": "info", "data": step}))?);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                text("done")
            }
            "test_elicitation" | "test_streaming_elicitation" => {
                ask(&call, "elicitation/create", &form(&json!({"name": {"type": "string"}}))).await
            }
            // As a server of the modern era answers, with a state of its own.
            "test_input_required_result_elicitation"
            | "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => {
                let responses: Value =
                    serde_json::from_str(call.params().input_responses().unwrap_or("null"))
                        .unwrap_or_default();
                if call.params().request_state().as_deref() == Some("asked")
                    && responses["user_name"].is_object()
                {
                    return text(&format!("the client answered {responses}"));
                }
                let request = json!({"method": "elicitation/create", "params": form(&json!({"name": {"type": "string"}}))});
                result(
                    &json!({"resultType": "input_required", "inputRequests": {"user_name": request}, "requestState": "asked"}),
                )
            }
            "test_input_required_result_capabilities" => {
                if call.client().capabilities.elicitation {
                    return ask(
                        &call,
                        "elicitation/create",
                        &form(&json!({"name": {"type": "string"}})),
                    )
                    .await;
                }
                ask(&call, "sampling/createMessage", &sampling).await
            }
            "test_input_required_result_multi_round" => {
                let step = |name: &str| form(&json!({name: {"type": "string"}}));
                ask(&call, "elicitation/create", &step("first")).await?;
                ask(&call, "elicitation/create", &step("second")).await
            }
            "test_elicitation_sep1034_defaults" => {
                let properties = json!({
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                    "verified": {"type": "boolean", "default": true},
                });
                ask(&call, "elicitation/create", &form(&properties)).await
            }
            "test_elicitation_sep1330_enums" => {
                let titled = json!([{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]);
                let properties = json!({
                    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
                    "titledSingle": {"type": "string", "oneOf": titled},
                    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
                    "titledMulti": {"type": "array", "items": {"anyOf": titled}},
                });
                ask(&call, "elicitation/create", &form(&properties)).await
            }
            "test_sampling" | "test_missing_capability" | "test_input_required_result_sampling" => {
                ask(&call, "sampling/createMessage", &sampling).await
            }
            "test_reconnection" => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                text("still here")
            }
            "test_trigger_tool_change" => {
                self.revision.send_modify(|revision| *revision += 1);
                text("changed")
            }
            "json_schema_2020_12_tool"
            | "test_custom_headers"
            | "test_custom_headers_null"
            | "test_headers" => text("ok"),
            name => Err(RpcError::new(-32_602, format!("Unknown tool: {name}"))),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = Sample { functions: Arc::new(functions(1)), revision: watch::Sender::new(1) };
    let server = Server::new(Arc::new(sample), ServerOptions::new("oz0-sample", "1"));
    match std::env::args().nth(1) {
        None => {
            let (input, output) = standard_streams();
            server.stdio(Principal::local(), input, output).await?;
        }
        Some(address) => {
            let listener = tokio::net::TcpListener::bind(address).await?;
            eprintln!("serving http://{}/mcp", listener.local_addr()?);
            let router = server.router(HttpOptions::default());
            server.serve(listener, router).await;
        }
    }
    Ok(())
}
