"""What the policy promises: which calls it refuses, which it lets through, and that it never repeats a credential."""

import pytest
from client import Client

# Put together here, so that no scanner takes this file for a leak.
CREDENTIALS = {
    "a private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA",
    "a GitHub token": "ghp" + "_" + "a1B2" * 9,
    "a GitLab token": "glpat" + "-" + "a1B2c" * 4,
    "a Slack token": "xoxb" + "-" + "123456789012",
    "an AWS access key": "AKIA" + "ABCD" * 4,
    "a password in a URL": "postgres://app:" + "hunter2" + "@db.example.com/app",
}
HARMLESS = [
    "Please rotate the private key of the build server.",
    "The password is in the vault, and the token expires on Monday.",
    "See https://example.com:8443/a@b and mailto:ann@example.com",
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with Client(tmp_path_factory.mktemp("home")) as client:
        yield client


def check(client, arguments):
    about = {"on": "before_call", "plugin": "chat", "version": "1.0.0", "function": "chat.post", "type": "sends_out"}
    return client.call("check_call", **about, arguments=arguments)


def test_it_lists_one_function_that_changes_nothing(client):
    functions = client.functions()
    assert list(functions) == ["check_call"]
    assert functions["check_call"]["annotations"]["readOnlyHint"] is True


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_a_credential_is_refused_with_its_kind_and_its_place_and_not_repeated(client, kind):
    credential = CREDENTIALS[kind]
    said = check(client, {"message": {"parts": ["Hello", f"Use {credential} for now."]}})
    assert said == {"decision": "refuse", "reason": f"/message/parts/1 of a call of chat.post holds {kind}"}


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_a_name_that_holds_one_is_refused_too_and_not_repeated(client, kind):
    said = check(client, {"headers": {CREDENTIALS[kind]: 1}})
    assert said == {"decision": "refuse", "reason": f"a name at /headers of a call of chat.post holds {kind}"}


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_goes_through(client, text):
    assert check(client, {"text": text, "count": 3, "urgent": True, "thread": None}) == {"decision": "allow"}


def test_arguments_that_nest_deep_are_looked_through(client):
    arguments = {"a": CREDENTIALS["a GitHub token"]}
    for _ in range(200):
        arguments = {"a": [arguments]}
    assert check(client, arguments)["decision"] == "refuse"
