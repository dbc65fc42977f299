"""A fake of the weather service's MCP server, for tests: Streamable HTTP, the 2026-07-28 protocol, on loopback.

It is written from the service's own description of its server, never from the snapshot, or the two would agree
whatever they say.
"""

import http.server
import json
import threading

VERSION = "2026-07-28"
CITY = {"type": "string", "description": "A city, such as `Lisbon` or `Lima, PE`"}
READS = {"readOnlyHint": True, "openWorldHint": True}
WEATHER = {
    "type": "object",
    "properties": {
        "date": {"type": "string", "format": "date"},
        "celsius": {"type": "number"},
        "sky": {"type": "string", "enum": ["clear", "clouds", "rain", "snow", "storm"]},
    },
    "required": ["date", "celsius", "sky"],
}

TOOLS = [
    {
        "name": "today",
        "title": "Today's weather",
        "description": "The weather of a city today.",
        "inputSchema": {"type": "object", "properties": {"city": CITY}, "required": ["city"]},
        "outputSchema": WEATHER,
        "annotations": READS,
        # A real server sends more with a function than a snapshot pins.
        "icons": [{"src": "https://mcp.example.com/today.png", "mimeType": "image/png"}],
    },
    {
        "name": "forecast",
        "title": "Forecast",
        "description": "The weather of a city on each of the next days.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": CITY,
                "days": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
            },
            "required": ["city"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"days": {"type": "array", "items": WEATHER}},
            "required": ["days"],
        },
        "annotations": READS,
    },
]


def answer(method, params):
    if method == "server/discover":
        return {"supportedVersions": [VERSION], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "public"}
    if method == "tools/list":
        # Two pages, as the service's server has them.
        page = {None: 0, "1": 1}[params.get("cursor")]
        more = {"nextCursor": "1"} if page == 0 else {}
        return {"tools": [TOOLS[page]], "ttlMs": 60000, "cacheScope": "public", **more}
    if method == "tools/call" and params["name"] == "today":
        weather = {"date": "2026-07-28", "celsius": 21.5, "sky": "clear"}
        return {"content": [{"type": "text", "text": json.dumps(weather)}], "structuredContent": weather}
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = answer(request["method"], request.get("params", {}))
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
    """Serves while its `with` block runs; `url` is where."""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/mcp"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
