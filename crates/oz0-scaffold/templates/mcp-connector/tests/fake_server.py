"""A fake of the tracker's MCP server, for tests: Streamable HTTP, the 2026-07-28 protocol, on loopback.

It is written from the vendor's description of the server, and the snapshot from it (`snapshot.py`): never the other way
round, or the two would agree whatever the vendor says.
"""

import http.server
import json
import threading

VERSION = "2026-07-28"

PROJECT = {"type": "string", "description": "The project's name"}
BODY = {"type": "string", "description": "Text, in Markdown"}
KEY = {
    "type": "string",
    "description": "A key of the caller's choosing; a second call with the same key changes nothing",
}
ISSUE = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "title": {"type": "string"},
        "body": {"type": "string"},
        "state": {"type": "string", "enum": ["open", "closed"]},
    },
    "required": ["id", "title", "body", "state"],
}

TOOLS = [
    {
        "name": "list_issues",
        "title": "List issues",
        "description": "List the open issues of a project, the newest first.",
        "inputSchema": {"type": "object", "properties": {"project": PROJECT}, "required": ["project"]},
        "outputSchema": {
            "type": "object",
            "properties": {"issues": {"type": "array", "items": ISSUE}},
            "required": ["issues"],
        },
        "annotations": {"readOnlyHint": True},
        # A real server sends more with a function than a snapshot pins.
        "icons": [{"src": "https://mcp.example.com/list.png", "mimeType": "image/png"}],
    },
    {
        "name": "create_issue",
        "title": "Create an issue",
        "description": "Open an issue. Everybody who follows the project gets its text by mail.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "project": PROJECT,
                "title": {"type": "string"},
                "body": BODY,
                "idempotency_key": KEY,
            },
            "required": ["project", "title", "body", "idempotency_key"],
        },
        "outputSchema": ISSUE,
    },
    {
        "name": "add_comment",
        "title": "Comment on an issue",
        "description": "Add a comment to an issue. Everybody who follows the issue gets it by mail.",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "body": BODY, "idempotency_key": KEY},
            "required": ["id", "body", "idempotency_key"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"comments": {"type": "integer", "description": "How many the issue has now"}},
            "required": ["comments"],
        },
    },
]

# What people read of a call.
SENDS_TO_PEOPLE = {"create_issue", "add_comment"}


class Tracker:
    """What the server knows, and the mail that it sent."""

    def __init__(self):
        self.issues = []
        self.comments = []
        self.mail = []
        self.done = {}

    def call(self, name, arguments):
        if name == "list_issues":
            return {"issues": self.issues[::-1]}
        key = (name, arguments["idempotency_key"])
        if key not in self.done:
            self.done[key] = getattr(self, name)(arguments)
        return self.done[key]

    def create_issue(self, arguments):
        issue = {
            "id": len(self.issues) + 1,
            "title": arguments["title"],
            "body": arguments["body"],
            "state": "open",
        }
        self.issues.append(issue)
        self.mail.append(arguments["body"])
        return issue

    def add_comment(self, arguments):
        self.comments.append(arguments)
        self.mail.append(arguments["body"])
        return {"comments": sum(one["id"] == arguments["id"] for one in self.comments)}


def answer(tracker, method, params):
    if method == "server/discover":
        return {"supportedVersions": [VERSION], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "public"}
    if method == "tools/list":
        # A page a function: what reads only the first page sees one.
        page = int(params.get("cursor", 0))
        more = {"nextCursor": str(page + 1)} if page + 1 < len(TOOLS) else {}
        return {"tools": [TOOLS[page]], "ttlMs": 60000, "cacheScope": "public", **more}
    if method == "tools/call" and any(tool["name"] == params["name"] for tool in TOOLS):
        result = tracker.call(params["name"], params["arguments"])
        return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = answer(self.server.tracker, request["method"], request.get("params", {}))
        if result is None:
            body = {"error": {"code": -32601, "message": f"no such method: {request['method']}"}}
        else:
            body = {"result": {"resultType": "complete", **result}}
        data = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), **body}).encode()
        self.send_response(404 if result is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Fake:
    """Serves while its `with` block runs; `url` is where, and `tracker` is what it knows."""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.tracker = self.server.tracker = Tracker()
        self.url = f"http://127.0.0.1:{self.server.server_port}/mcp"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
