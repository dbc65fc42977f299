"""The snapshot is exactly what a fake of the server lists, a write can be repeated, and people see the AI label."""

import copy
import json
import re
import urllib.request

import pytest
from fake_server import SENDS_TO_PEOPLE, VERSION, Fake
from snapshot import PLUGIN, SNAPSHOT, pinned

MANIFEST = PLUGIN / "oz0-plugin.yaml"

# A call of each function.
CALLS = {
    "list_issues": {"project": "web"},
    "create_issue": {"project": "web", "title": "It crashes", "body": "At every start.", "idempotency_key": "1"},
    "add_comment": {"id": 1, "body": "Since which version?", "idempotency_key": "1"},
}


@pytest.fixture(scope="module")
def snapshot():
    return json.loads(SNAPSHOT.read_text(encoding="utf-8"))


@pytest.fixture
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


def call(server, name, arguments):
    return request(server, "tools/call", name=name, arguments=arguments)["structuredContent"]


def list_functions(server):
    functions, cursor = [], {}
    while cursor is not None:
        page = request(server, "tools/list", **cursor)
        functions += page["tools"]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    return functions


def labels():
    """Where the manifest says that the AI label goes, by function: a JSON pointer into the arguments."""
    found, function = {}, None
    for line in MANIFEST.read_text(encoding="utf-8").splitlines():
        if name := re.fullmatch(r" {6}(\w+):", line):
            function = name[1]
        elif pointer := re.fullmatch(r" {8}ai_label: (\S+)", line):
            found[function] = pointer[1]
    return found


def labelled(arguments, pointer, label):
    """The arguments as they arrive: the label on a line of its own, behind the text that the pointer leads to."""
    arguments = copy.deepcopy(arguments)
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    place = arguments
    for part in way:
        place = place[part]
    assert isinstance(place[last], str)
    place[last] += f"\n{label}"
    return arguments


def test_the_fake_lists_exactly_the_snapshot(server, snapshot):
    listed = sorted((pinned(function) for function in list_functions(server)), key=lambda one: one["name"])
    assert listed == snapshot["functions"], "when the fake is right, run: python3 tests/snapshot.py"


def test_every_function_is_called_here(snapshot):
    assert sorted(CALLS) == sorted(function["listing"]["name"] for function in snapshot["functions"])


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_its_output_schema_says(server, snapshot, name):
    call(server, "create_issue", CALLS["create_issue"])
    schema = next(one["listing"] for one in snapshot["functions"] if one["listing"]["name"] == name)["outputSchema"]
    given = call(server, name, CALLS[name])
    assert set(schema["required"]) <= set(given) <= set(schema["properties"])
    if name == "list_issues":
        schema = schema["properties"]["issues"]["items"]
        assert given["issues"]
        assert all(set(schema["required"]) <= set(issue) <= set(schema["properties"]) for issue in given["issues"])


def test_a_repeated_write_does_it_once(server):
    for name in sorted(SENDS_TO_PEOPLE, reverse=True):
        assert call(server, name, CALLS[name]) == call(server, name, CALLS[name])
    assert (len(server.tracker.issues), len(server.tracker.comments)) == (1, 1)
    assert len(server.tracker.mail) == 2


def test_every_function_that_sends_to_people_is_labelled_and_no_other():
    assert set(labels()) == SENDS_TO_PEOPLE


@pytest.mark.parametrize("name", sorted(SENDS_TO_PEOPLE))
def test_the_label_is_on_what_people_read(server, name):
    arguments = labelled(CALLS[name], labels()[name], "[AI-generated]")
    call(server, name, arguments)
    assert server.tracker.mail == [f"{CALLS[name]['body']}\n[AI-generated]"]
