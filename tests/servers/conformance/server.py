"""What `@modelcontextprotocol/conformance` asks of a server, on the Python MCP SDK.

The suite calls functions, prompts and resources by fixed names and looks at what they answer. This server has all of
them, in both eras of the protocol, so the suite's verdicts about it say something about whatever stands in front of it.

    server.py            serves stdio: as a plugin's server
    server.py --http     serves Streamable HTTP on a free port, and prints its URL: for the suite itself
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import socket
import sys

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
).decode()
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOTHING = {"type": "object"}
SECRET = os.urandom(32)
COMES_AND_GOES = "test_comes_and_goes"

bus = InMemorySubscriptionBus()


def text(words):
    return {"type": "text", "text": words}


def said(words):
    return {"content": [text(words)]}


def embedded(uri, mime_type, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
RESOURCE = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")

# Answers that never change.
FIXED = {
    "test_simple_text": said("This is a simple text response for testing."),
    "test_image_content": {"content": [IMAGE]},
    "test_audio_content": {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]},
    "test_embedded_resource": {"content": [RESOURCE]},
    "test_multiple_content_types": {
        "content": [
            text("Multiple content types test:"),
            IMAGE,
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    },
    "test_error_handling": {"isError": True, **said("This tool intentionally returns an error for testing")},
    "json_schema_2020_12_tool": said("ok"),
    "test_header": said("ok"),
    COMES_AND_GOES: said("ok"),
}


def form(message, required=None, **properties):
    schema = {"type": "object", "properties": properties}
    if required is not False:
        schema["required"] = list(properties)
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(question, limit=100):
    messages = [{"role": "user", "content": text(question)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": limit}}


ROOTS = {"method": "roots/list", "params": {}}
NAME = form("What is your name?", name={"type": "string"})
TITLED = [{"const": f"value{n}", "title": f"{word} choice"} for n, word in enumerate(["First", "Second", "Third"], 1)]
OPTIONS = ["option1", "option2", "option3"]
ENUMS = form(
    "Please choose",
    required=False,
    untitledSingle={"type": "string", "enum": OPTIONS},
    titledSingle={"type": "string", "oneOf": TITLED},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    untitledMulti={"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    titledMulti={"type": "array", "items": {"anyOf": TITLED}},
)
DEFAULTS = form(
    "Please review",
    required=False,
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)


# --- Questions of the handshake era: the server sends requests of its own while a call is open. A client of the
# stateless era gets the same question in an unfinished result. ---


async def ask(ctx, params, question):
    """The client's answer, or nothing where the question has to travel in a result."""
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return answers(params).get("answer")
    request, answer = {
        "elicitation/create": (types.ElicitRequest, types.ElicitResult),
        "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
    }[question["method"]]
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    answered = await ctx.session.send_request(request.model_validate(question), answer, metadata=metadata)
    return answered.model_dump(by_alias=True, mode="json", exclude_none=True)


async def elicited(ctx, params, question):
    answer = await ask(ctx, params, question)
    if answer is None:
        return unfinished(answer=question)
    return said(f"User response: action={answer['action']}, content={json.dumps(answer.get('content'))}")


async def sampled(ctx, params):
    question = sample((params.arguments or {}).get("prompt", "Say hello"))
    answer = await ask(ctx, params, question)
    return unfinished(answer=question) if answer is None else said(f"LLM response: {answer['content']['text']}")


# --- Questions of the stateless era: an unfinished result carries them, and the client calls again with answers. ---


def sealed(payload):
    mac = hmac.new(SECRET, payload.encode(), hashlib.sha256).hexdigest()
    return f"{payload}.{mac}"


def opened(state):
    payload, _, _ = (state or "").rpartition(".")
    if not hmac.compare_digest(sealed(payload), state or ""):
        raise MCPError(types.INVALID_PARAMS, "the request state was not issued by this server")
    return payload


def unfinished(state=None, **questions):
    result = {"resultType": "input_required", "inputRequests": questions}
    if state is not None:
        result["requestState"] = sealed(state)
    return result


def answers(params):
    given = params.model_dump(by_alias=True, mode="json", exclude_none=True).get("inputResponses")
    return given or {}


def accepted(answer, field):
    """The answered field of a form, or nothing where the answer is none."""
    content = answer.get("content") if isinstance(answer, dict) else None
    return content.get(field) if isinstance(content, dict) else None


def rounds(name, params, ctx):
    given = answers(params)
    match name:
        case "test_input_required_result_elicitation" | "test_streaming_elicitation":
            answer = accepted(given.get("user_name"), "name")
            return said(f"Hello, {answer}!") if answer else unfinished(user_name=NAME)
        case "test_input_required_result_sampling":
            if "capital_question" in given:
                return said(json.dumps(given["capital_question"]["content"]))
            return unfinished(capital_question=sample("What is the capital of France?"))
        case "test_input_required_result_list_roots":
            if "client_roots" in given:
                return said(", ".join(root["uri"] for root in given["client_roots"]["roots"]))
            return unfinished(client_roots=ROOTS)
        case "test_input_required_result_request_state" | "test_input_required_result_tampered_state":
            if params.request_state is not None and opened(params.request_state) == name and "confirm" in given:
                return said("state-ok")
            return unfinished(name, confirm=form("Please confirm", ok={"type": "boolean"}))
        case "test_input_required_result_multiple_inputs":
            if {"user_name", "greeting", "client_roots"} <= given.keys():
                opened(params.request_state)
                return said("all answered")
            return unfinished(name, user_name=NAME, greeting=sample("Generate a greeting", 50), client_roots=ROOTS)
        case "test_input_required_result_multi_round":
            step = opened(params.request_state) if params.request_state is not None else "step0"
            if step == "step1" and "step1" in given:
                return unfinished("step2", step2=form("Step 2: What is your favorite color?", color={"type": "string"}))
            if step == "step2" and "step2" in given:
                return said(f"Your color is {accepted(given['step2'], 'color')}")
            return unfinished("step1", step1=form("Step 1: What is your name?", name={"type": "string"}))
        case "test_input_required_result_capabilities":
            can = ctx.session.client_capabilities
            questions = {}
            if can is not None and can.elicitation is not None:
                questions["user_name"] = NAME
            if can is not None and can.sampling is not None:
                questions["greeting"] = sample("Generate a greeting", 50)
            return unfinished(**questions) if questions else said("nothing can be asked")
    return None


async def progress(ctx):
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100)
        await anyio.sleep(0.05)
    return said("done")


async def log(ctx):
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", step, related_request_id=ctx.request_id)
        await anyio.sleep(0.05)
    return said("done")


async def missing_capability(ctx, params):
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Missing required client capability", data)
    return await sampled(ctx, params)


async def reconnect(ctx):
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await anyio.sleep(0.1)
    return said("still here")


async def trigger(ctx):
    """Takes a function out of the list, or puts it back."""
    if COMES_AND_GOES in listed:
        listed.remove(COMES_AND_GOES)
    else:
        listed.append(COMES_AND_GOES)
    await bus.publish(ToolsListChanged())
    return said("changed")


async def trigger_prompts(ctx):
    await bus.publish(PromptsListChanged())
    return said("changed")


async def call(ctx, params):
    name, arguments = params.name, params.arguments or {}
    if name in FIXED:
        return FIXED[name]
    result = rounds(name, params, ctx)
    if result is not None:
        return result
    match name:
        case "test_tool_with_progress":
            return await progress(ctx)
        case "test_tool_with_logging" | "test_logging_tool":
            return await log(ctx)
        case "test_sampling":
            return await sampled(ctx, params)
        case "test_elicitation":
            fields = {"username": {"type": "string"}, "email": {"type": "string"}}
            return await elicited(ctx, params, form(arguments.get("message", "Please answer"), **fields))
        case "test_elicitation_sep1034_defaults":
            return await elicited(ctx, params, DEFAULTS)
        case "test_elicitation_sep1330_enums":
            return await elicited(ctx, params, ENUMS)
        case "test_missing_capability":
            return await missing_capability(ctx, params)
        case "test_reconnection":
            return await reconnect(ctx)
        case "test_trigger_tool_change":
            return await trigger(ctx)
        case "test_trigger_prompt_change":
            return await trigger_prompts(ctx)
    raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")


SCHEMAS = {
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_elicitation": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
    "test_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
    },
    "json_schema_2020_12_tool": {
        "$schema": DIALECT,
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
NAMES = [
    *(name for name in FIXED if name != COMES_AND_GOES),
    "test_tool_with_progress",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_reconnection",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
]


listed = [*NAMES, COMES_AND_GOES]


async def list_tools(ctx, params):
    return {
        "tools": [
            {"name": name, "description": f"Test: {name}", "inputSchema": SCHEMAS.get(name, NOTHING)} for name in listed
        ]
    }


# --- Prompts and resources. ---

TEMPLATE = "test://template/{id}/data"
RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}


def argument(name):
    return {"name": name, "description": f"The argument {name}", "required": True}


PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": [argument("arg1"), argument("arg2")],
    "test_prompt_with_embedded_resource": [argument("resourceUri")],
    "test_prompt_with_image": [],
    "test_input_required_result_prompt": [],
}


async def list_prompts(ctx, params):
    return {"prompts": [{"name": name, "description": name, "arguments": given} for name, given in PROMPTS.items()]}


async def get_prompt(ctx, params):
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            content = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            content = [text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")]
        case "test_prompt_with_embedded_resource":
            resource = embedded(given.get("resourceUri"), "text/plain", "Embedded resource content for testing.")
            content = [resource, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            content = [IMAGE, text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            answered = answers(params)
            if not answered:
                return unfinished(user_context=form("What context?", context={"type": "string"}))
            content = [text(json.dumps(answered))]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    return {"messages": [{"role": "user", "content": item} for item in content]}


async def list_resources(ctx, params):
    return {
        "resources": [{"uri": uri, "name": uri, "mimeType": content["mimeType"]} for uri, content in RESOURCES.items()]
    }


async def list_templates(ctx, params):
    template = {"uriTemplate": TEMPLATE, "name": "template", "mimeType": "application/json"}
    return {"resourceTemplates": [template]}


async def read_resource(ctx, params):
    uri = str(params.uri)
    before, after = TEMPLATE.split("{id}")
    if uri in RESOURCES:
        content = RESOURCES[uri]
    elif uri.startswith(before) and uri.endswith(after):
        number = uri.removeprefix(before).removesuffix(after)
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        content = {"mimeType": "application/json", "text": json.dumps(data)}
    else:
        raise MCPError(types.INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})
    return {"contents": [{"uri": uri, **content}]}


async def complete(ctx, params):
    return {"completion": {"values": [], "total": 0, "hasMore": False}}


async def nothing(ctx, params):
    return {}


async def subscribe(ctx, params):
    await bus.publish(ResourceUpdated(uri=str(params.uri)))
    return {}


class Events(EventStore):
    """Every event of every stream, so that a client may come back for what it missed."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        seen = int(last_event_id)
        stream = self.events[seen - 1][0]
        for number, (stream_id, message) in enumerate(self.events[seen:], seen + 1):
            if stream_id == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def answering(handler, result):
    """A handler whose answer is of this type, which knows what each era's result must have; or is unfinished."""

    async def answer(ctx, params):
        answered = await handler(ctx, params)
        kind = types.InputRequiredResult if answered.get("resultType") == "input_required" else result
        return kind.model_validate(answered)

    return answer


def create():
    return Server(
        "conformance",
        version="1.0.0",
        on_list_tools=answering(list_tools, types.ListToolsResult),
        on_call_tool=answering(call, types.CallToolResult),
        on_list_prompts=answering(list_prompts, types.ListPromptsResult),
        on_get_prompt=answering(get_prompt, types.GetPromptResult),
        on_list_resources=answering(list_resources, types.ListResourcesResult),
        on_list_resource_templates=answering(list_templates, types.ListResourceTemplatesResult),
        on_read_resource=answering(read_resource, types.ReadResourceResult),
        on_subscribe_resource=answering(subscribe, types.EmptyResult),
        on_unsubscribe_resource=answering(nothing, types.EmptyResult),
        on_completion=answering(complete, types.CompleteResult),
        on_subscriptions_listen=ListenHandler(bus),
        on_set_logging_level=answering(nothing, types.EmptyResult),
        get_tool_input_schema=SCHEMAS.get,
    )


async def stdio():
    server = create()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def http():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    app = create().streamable_http_app(event_store=Events(), retry_interval=100)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=0)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        if "--http" in sys.argv:
            http()
        else:
            anyio.run(stdio)
