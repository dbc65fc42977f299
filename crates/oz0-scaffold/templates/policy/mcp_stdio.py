"""MCP over stdio, on Python's standard library alone: one JSON-RPC message a line in, one answer a line out.

It speaks both eras of the protocol: 2026-07-28, where each request names its version in `_meta` and nothing is agreed
beforehand, and the versions before it, which open with `initialize`. Functions are registered with `function`, and
`serve` answers for them until its input ends.
"""

import json
import sys
import traceback

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the newest first
CAPABILITIES = {"tools": {}}

# Keys of a modern request's `_meta`.
VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
FUNCTIONS = {}


class Refused(Exception):
    """The function cannot do what it was asked; the message is for whoever called it."""


class ProtocolError(Exception):
    """An error of the protocol itself. A function that fails says so in its result instead."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def fields(properties, optional=()):
    """The schema of an object with exactly these properties, all required but the optional ones."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def function(*, title, description, takes, gives, acts):
    """Registers a function under its own name; `takes` and `gives` are JSON Schemas, `acts` is MCP's annotations."""

    def register(does):
        listing = {
            "name": does.__name__,
            "title": title,
            "description": description,
            "inputSchema": takes,
            "outputSchema": gives,
            "annotations": acts,
        }
        FUNCTIONS[does.__name__] = (does, listing)
        return does

    return register


def check(arguments, schema):
    """Holds arguments against the part of JSON Schema that `fields` writes, one level deep."""
    properties = schema["properties"]
    missing = [name for name in schema["required"] if name not in arguments]
    if missing:
        raise Refused(f"missing: {', '.join(missing)}")
    for name, value in arguments.items():
        if name not in properties:
            raise Refused(f"unknown argument: {name}")
        wanted = properties[name]["type"]
        # To Python, true is an integer too.
        if not isinstance(value, TYPES[wanted]) or isinstance(value, bool) != (wanted == "boolean"):
            raise Refused(f"{name} must be of type {wanted}")


def list_tools(params):
    if params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "there is one page, and so no cursor")
    return {"tools": [listing for _, listing in FUNCTIONS.values()]}


def call_tool(params):
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
    if name not in FUNCTIONS:
        raise ProtocolError(INVALID_PARAMS, f"no such tool: {name}")
    does, listing = FUNCTIONS[name]
    try:
        check(arguments, listing["inputSchema"])
        result = does(**arguments)
    except Refused as refused:
        return {"content": [{"type": "text", "text": str(refused)}], "isError": True}
    # The text repeats the structured content, for clients that do not read it.
    text = json.dumps(result, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": result}


def is_modern(method, params):
    """Whether a request is of the modern era; one that is, but wrongly so, is refused."""
    meta = params.get("_meta")
    version = meta.get(VERSION) if isinstance(meta, dict) else None
    if version is None:
        if method == "server/discover":
            raise ProtocolError(INVALID_PARAMS, f"_meta must have {VERSION}")
        return False
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, f"unsupported protocol version: {version}", data)
    if not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta must have {CLIENT_CAPABILITIES}")
    return True


class Server:
    def __init__(self, name, version):
        self.info = {"name": name, "version": version}

    def initialize(self, params):
        """The opening of every version before 2026-07-28: the client's version if we know it, else our newest."""
        asked = params.get("protocolVersion")
        version = asked if asked in LEGACY else LEGACY[0]
        return {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": self.info}

    def answer_legacy(self, method, params):
        methods = {
            "initialize": self.initialize,
            "ping": lambda _: {},
            "tools/list": list_tools,
            "tools/call": call_tool,
        }
        return self.pick(methods, method)(params)

    def answer_modern(self, method, params):
        cached = {"ttlMs": 0, "cacheScope": "private"}
        methods = {
            "server/discover": lambda _: {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, **cached},
            "tools/list": lambda params: {**list_tools(params), **cached},
            "tools/call": call_tool,
        }
        result = self.pick(methods, method)(params)
        return {"resultType": "complete", **result, "_meta": {SERVER_INFO: self.info}}

    @staticmethod
    def pick(methods, method):
        if method not in methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"no such method: {method}")
        return methods[method]

    def handle(self, request):
        method, params = request["method"], request.get("params", {})
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, "params must be an object")
        return self.answer_modern(method, params) if is_modern(method, params) else self.answer_legacy(method, params)

    def answer(self, line):
        """The answer to one line, or None for a notification, which gets none."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return error(None, ProtocolError(PARSE_ERROR, "not JSON"))
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return error(None, ProtocolError(INVALID_REQUEST, "not a request"))
        if "id" not in request:
            return None
        try:
            return {"jsonrpc": "2.0", "id": request["id"], "result": self.handle(request)}
        except ProtocolError as problem:
            return error(request["id"], problem)
        except Exception:
            # One request that fails must not end the server; what went wrong is for its log.
            traceback.print_exc()
            message = f"{request['method']} failed; see the server's log"
            return error(request["id"], ProtocolError(INTERNAL_ERROR, message))


def error(request_id, problem):
    return {"jsonrpc": "2.0", "id": request_id, "error": problem.error}


def serve(name, version):
    """Answers on stdin and stdout until stdin ends."""
    server = Server(name, version)
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in sys.stdin:
        message = server.answer(line) if line.strip() else None
        if message is not None:
            print(json.dumps(message), flush=True)
