"""The committed snapshot is exactly what a fake of the server lists, and each hash is its listing's."""

import hashlib
import json
import pathlib
import urllib.request

import pytest
from fake_server import VERSION, Fake

SNAPSHOT = pathlib.Path(__file__).parent.parent / "snapshots" / "wx.json"
PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


@pytest.fixture(scope="module")
def snapshot():
    return json.loads(SNAPSHOT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def server():
    with Fake() as fake:
        yield fake


def request(server, method, **params):
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    asked = urllib.request.Request(server.url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked, timeout=10) as response:
        return json.load(response)["result"]


def list_functions(server):
    functions, cursor = [], {}
    while cursor is not None:
        page = request(server, "tools/list", **cursor)
        functions += page["tools"]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    return [{key: function[key] for key in PINNED if key in function} for function in functions]


def test_the_fake_lists_exactly_the_snapshot(server, snapshot):
    expected = sorted((function["listing"] for function in snapshot["functions"]), key=lambda one: one["name"])
    assert sorted(list_functions(server), key=lambda one: one["name"]) == expected


def test_each_hash_is_its_listings(snapshot):
    for function in snapshot["functions"]:
        # For text in ASCII and whole numbers this is RFC 8785's canonical JSON.
        canonical = json.dumps(function["listing"], sort_keys=True, separators=(",", ":"))
        assert canonical.isascii()
        assert function["hash"] == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
        assert function["name"] == f"{snapshot['tool']}.{function['listing']['name']}"


def test_a_call_gives_what_its_output_schema_says(server, snapshot):
    schema = next(one["listing"]["outputSchema"] for one in snapshot["functions"] if one["name"] == "wx.today")
    weather = request(server, "tools/call", name="today", arguments={"city": "Lisbon"})["structuredContent"]
    assert set(schema["required"]) <= set(weather) <= set(schema["properties"])
    assert weather["sky"] in schema["properties"]["sky"]["enum"]
