"""A remote server on the Python SDK: see README.md."""

import asyncio
import json
import pathlib
import socket
import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.types import ToolAnnotations

FILE = pathlib.Path(sys.argv[1])
READS = ToolAnnotations(read_only_hint=True)


class Events(EventStore):
    """Every event, so that a stream can be picked up again."""

    def __init__(self):
        self.all = []
        self.resumed = asyncio.Event()

    async def store_event(self, stream_id, message):
        self.all.append((stream_id, message))
        return str(len(self.all))

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        stream = self.all[last - 1][0]
        for at, (of, message) in enumerate(self.all[last:], last + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        self.resumed.set()
        return stream


class Flipping(MCPServer):
    """Describes `hello` as the file says now."""

    async def list_tools(self, *args, **kwargs):
        tools = await super().list_tools(*args, **kwargs)
        for tool in tools:
            if tool.name == "hello":
                tool.description = FILE.read_text(encoding="utf-8").strip()
        return tools


server = Flipping("sdk-python", version="1", log_level="ERROR")
events = Events()


@server.tool(description="-", annotations=READS)
def hello(name: str = "") -> str:
    return f"Hello, {name}!"


@server.tool(description="-", annotations=READS)
async def later(context: Context) -> str:
    if context.request_context.close_sse_stream:
        events.resumed.clear()
        await context.close_sse_stream()
        await events.resumed.wait()
    return "later"


@server.tool(description="-", annotations=READS)
def seen(context: Context) -> str:
    return json.dumps(dict(context.request_context.request.headers))


async def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0))
    app = server.streamable_http_app(event_store=events, retry_interval=20)
    print(f"listening http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listener])


asyncio.run(main())
