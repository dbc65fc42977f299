"""What the server promises: its functions, how each acts, and what a call of each does."""

import pytest
from client import Client


@pytest.fixture
def client(tmp_path):
    with Client(tmp_path) as client:
        yield client


def test_every_function_says_how_it_acts_and_what_it_gives(client):
    functions = client.functions()
    acts = {name: function["annotations"] for name, function in functions.items()}
    assert {name: act["readOnlyHint"] for name, act in acts.items()} == {
        "list_tasks": True,
        "add_task": False,
        "remove_task": False,
    }
    assert [name for name, act in acts.items() if act.get("destructiveHint")] == ["remove_task"]
    assert all(function["outputSchema"]["type"] == "object" for function in functions.values())


def test_both_eras_of_the_protocol_list_the_same(client):
    opened = client.ask("initialize", meta=None, protocolVersion="2025-06-18", capabilities={})["result"]
    assert opened["protocolVersion"] == "2025-06-18"
    legacy = client.ask("tools/list", meta=None)["result"]["tools"]
    assert {function["name"]: function for function in legacy} == client.functions()


def test_what_is_no_request_is_an_error_and_the_next_one_is_answered(client):
    assert client.send("no JSON")["error"]["code"] == -32700
    assert client.ask("no/such/method")["error"]["code"] == -32601
    assert client.call("list_tasks") == {"tasks": []}


def test_an_added_task_is_listed_until_it_is_removed(client):
    assert client.call("add_task", text="Water the plants", key="1") == {"added": True}
    assert client.call("add_task", text="Feed the cat", key="2") == {"added": True}
    assert client.call("remove_task", key="1") == {"removed": True}
    assert client.call("list_tasks") == {"tasks": [{"key": "2", "text": "Feed the cat"}]}


def test_a_repeated_write_does_it_once(client):
    client.call("add_task", text="Water the plants", key="1")
    assert client.call("add_task", text="Water the plants", key="1") == {"added": False}
    assert len(client.call("list_tasks")["tasks"]) == 1
    assert client.call("add_task", text="Feed the cat", key="1") == "the key has another task already"
    client.call("remove_task", key="1")
    assert client.call("remove_task", key="1") == {"removed": False}


def test_the_list_outlives_the_server(tmp_path):
    with Client(tmp_path) as client:
        client.call("add_task", text="Water the plants", key="1")
    with Client(tmp_path) as client:
        assert len(client.call("list_tasks")["tasks"]) == 1


def test_wrong_arguments_are_refused_by_name(client):
    assert client.call("add_task", text="Water the plants") == "missing: key"
    assert client.call("add_task", text=1, key="1") == "text must be of type string"
    assert client.call("list_tasks", when="now") == "unknown argument: when"
