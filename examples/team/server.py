"""An MCP server for a team, on Python's standard library alone.

One JSON-RPC message a line on stdin, one answer a line on stdout (MCP's stdio transport). It speaks both eras of the
protocol: 2026-07-28, where each request names its version in `_meta` and nothing is agreed beforehand, and the
versions before it, which open with `initialize`. What the functions do stands in `functions.py`; this file is only
the protocol, and can be copied as it is.
"""

import json
import sys
import traceback

import functions

SERVER = {"name": "team", "version": "1.0.0"}
CAPABILITIES = {"tools": {}}

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the newest first

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


class ProtocolError(Exception):
    """An error of the protocol itself. A function that fails says so in its result instead."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def initialize(params):
    """The opening of every version before 2026-07-28: the client's version if we know it, else our newest."""
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[0],
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
    }


def discover(_params):
    return {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, "ttlMs": 0, "cacheScope": "private"}


def ping(_params):
    return {}


def list_tools(params):
    if params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "there is one page, and so no cursor")
    return {"tools": functions.listing()}


def list_tools_modern(params):
    return {**list_tools(params), "ttlMs": 0, "cacheScope": "private"}


def call_tool(params):
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
    if name not in functions.FUNCTIONS:
        raise ProtocolError(INVALID_PARAMS, f"no such tool: {name}")
    try:
        result = functions.call(name, arguments)
    except functions.Refused as refused:
        return {"content": [{"type": "text", "text": str(refused)}], "isError": True}
    # The text repeats the structured content, for clients that do not read it.
    text = json.dumps(result, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": result}


LEGACY_METHODS = {"initialize": initialize, "ping": ping, "tools/list": list_tools, "tools/call": call_tool}
MODERN_METHODS = {"server/discover": discover, "tools/list": list_tools_modern, "tools/call": call_tool}


def is_modern(method, params):
    """Whether a request is of the modern era; one that is, but wrongly so, is refused."""
    meta = params.get("_meta")
    version = meta.get(VERSION) if isinstance(meta, dict) else None
    if version is None:
        if method == "server/discover":
            raise ProtocolError(INVALID_PARAMS, f"_meta must have {VERSION}")
        return False
    if version != MODERN:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            f"unsupported protocol version: {version}",
            {"supported": [MODERN], "requested": version},
        )
    if not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta must have {CLIENT_CAPABILITIES}")
    return True


def handle(request):
    params = request.get("params", {})
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object")
    method = request["method"]
    modern = is_modern(method, params)
    methods = MODERN_METHODS if modern else LEGACY_METHODS
    if method not in methods:
        raise ProtocolError(METHOD_NOT_FOUND, f"no such method: {method}")
    result = methods[method](params)
    if modern:
        result = {"resultType": "complete", **result, "_meta": {SERVER_INFO: SERVER}}
    return result


def answer(line):
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
        return {"jsonrpc": "2.0", "id": request["id"], "result": handle(request)}
    except ProtocolError as problem:
        return error(request["id"], problem)
    except Exception:
        # One request that fails must not end the server; what went wrong is for its log.
        traceback.print_exc()
        return error(request["id"], ProtocolError(INTERNAL_ERROR, f"{request['method']} failed; see the server's log"))


def error(request_id, problem):
    return {"jsonrpc": "2.0", "id": request_id, "error": problem.error}


def main():
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for line in sys.stdin:
        message = answer(line) if line.strip() else None
        if message is not None:
            print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
