"""A handle on the Python SDK's client: see README.md."""

import json
import os
import sys

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError


def say(**answer):
    print(json.dumps(answer), flush=True)


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Handle:
    def __init__(self):
        self.asked = []
        self.changed, self.changes = anyio.create_memory_object_stream(100)

    async def elicit(self, context, params):
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"color": "blue"})

    async def told(self, message):
        if isinstance(message, types.ToolListChangedNotification):
            await self.changed.send(None)

    async def listen(self, client, *, task_status):
        async with client.listen(tools_list_changed=True) as events:
            task_status.started()
            async for _ in events:
                await self.changed.send(None)

    async def call(self, client, params, cancel):
        self.asked.clear()
        reported = []
        with anyio.CancelScope() as scope:

            async def report(progress, total, message):
                reported.append(progress)
                if cancel:
                    scope.cancel()

            try:
                result = await client.call_tool(params["name"], params.get("arguments"), progress_callback=report)
            except MCPError as error:
                return say(error=error.error.message, progress=reported, asked=self.asked)
            return say(result=plain(result), progress=reported, asked=self.asked)
        say(cancelled=scope.cancelled_caught)

    async def list(self, client):
        tools, pages, cursor = [], 0, None
        while pages == 0 or cursor is not None:
            try:
                page = await client.list_tools(cursor=cursor)
            except MCPError as error:
                return say(error=error.error.message)
            tools += [plain(tool) for tool in page.tools]
            pages, cursor = pages + 1, page.next_cursor
        say(pages=pages, tools=tools)

    async def run(self, era, transport, target):
        server = target[0]
        if transport == "stdio":
            server = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
        client = Client(
            server,
            mode={"legacy": "legacy", "modern": "2026-07-28"}[era],
            elicitation_callback=self.elicit,
            message_handler=self.told,
        )
        async with client, anyio.create_task_group() as tasks:
            if era == "modern":
                await tasks.start(self.listen, client)
            say(protocol=client.protocol_version)
            async for line in anyio.wrap_file(sys.stdin):
                command = json.loads(line)
                if "list" in command:
                    await self.list(client)
                elif "call" in command:
                    await self.call(client, command["call"], command.get("cancel", False))
                elif "changed" in command:
                    await self.changes.receive()
                    say(changed=True)
            tasks.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(Handle().run, sys.argv[1], sys.argv[2], sys.argv[3:])
