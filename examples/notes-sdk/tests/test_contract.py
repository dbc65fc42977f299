"""What the server promises: its functions, their types, and what a call of each does, through a real client."""

import asyncio
import pathlib
import sys

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

SERVER = pathlib.Path(__file__).parent.parent / "server.py"


@pytest.fixture
def ask(tmp_path):
    """Runs a few requests against a server of their own, over stdio."""

    def run(talk):
        async def session():
            parameters = StdioServerParameters(
                command=sys.executable, args=[str(SERVER)], env={"NOTES_FILE": str(tmp_path / "notes.jsonl")}
            )
            async with Client(parameters) as client:
                return await talk(client)

        return asyncio.run(session())

    return run


def test_it_lists_two_functions_that_say_what_they_do(ask):
    async def talk(client):
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = ask(talk)
    assert sorted(tools) == ["save", "search"]
    assert tools["search"].annotations.read_only_hint is True
    assert tools["save"].annotations.read_only_hint is False
    assert tools["save"].annotations.destructive_hint is False
    assert all(tool.output_schema for tool in tools.values())


def test_a_saved_note_is_found_whatever_the_case(ask):
    async def talk(client):
        saved = await client.call_tool("save", {"key": "1", "text": "Buy Coffee"})
        found = await client.call_tool("search", {"word": "coffee"})
        missed = await client.call_tool("search", {"word": "tea"})
        return saved.structured_content, found.structured_content, missed.structured_content

    assert ask(talk) == ({"added": True}, {"notes": [{"key": "1", "text": "Buy Coffee"}]}, {"notes": []})


def test_the_same_key_twice_saves_once(ask):
    async def talk(client):
        await client.call_tool("save", {"key": "1", "text": "once"})
        again = await client.call_tool("save", {"key": "1", "text": "once"})
        other = await client.call_tool("save", {"key": "1", "text": "another"})
        notes = await client.call_tool("search", {"word": ""})
        return again.structured_content, other.is_error, len(notes.structured_content["notes"])

    assert ask(talk) == ({"added": False}, True, 1)
