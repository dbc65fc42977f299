"""Replays each case of the eval from its recording, against a fake of the connector: no model, no network."""

import json
import pathlib
import re

import pytest
from fake_tracker import Tracker

PLUGIN = pathlib.Path(__file__).parent.parent
EVAL = PLUGIN / "evals" / "reports.yaml"
CASSETTES = PLUGIN / "evals" / "cassettes" / "reports"
MANIFEST = PLUGIN / "oz0-plugin.yaml"


def cases():
    """The eval's cases by name. Its values are written in one line each, as JSON, which is YAML too."""
    found = {}
    for line in EVAL.read_text(encoding="utf-8").splitlines():
        if name := re.fullmatch(r"  - name: (\S+)", line):
            case = found[name[1]] = {}
        elif member := re.fullmatch(r"    (input|expect): (.+)", line):
            case[member[1]] = json.loads(member[2])
    return found


def recording(case):
    text = (CASSETTES / f"{case}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def granted():
    """The functions that the agent may call, as the manifest lists them."""
    return re.findall(r"^ {6}- (tracker/\S+)$", MANIFEST.read_text(encoding="utf-8"), re.MULTILINE)


def replay(case, tracker):
    """Makes the recorded calls, and gives the recorded answer. What the calls give is what was recorded."""
    turns = iter(recording(case))
    for turn in turns:
        if "answer" in turn:
            assert next(turns, None) is None, "something follows the answer"
            return turn["answer"]
        for call in turn["calls"]:
            assert call["function"] in granted()
        given = [tracker.call(**call) for call in turn["calls"]]
        assert next(turns) == {"results": given}
    pytest.fail("the recording ends without an answer")


@pytest.mark.parametrize("case", cases())
def test_a_case_replays_as_it_was_recorded(case):
    tracker, (given, expected) = Tracker(), (cases()[case]["input"], cases()[case]["expect"])
    first = recording(case)[0]["calls"][0]
    assert first == {"function": "tracker/tracker.list_issues", "arguments": given}
    assert replay(case, tracker) == expected
    # It says what it did.
    assert sorted(tracker.comments) == expected["asked"]


@pytest.mark.parametrize("case", cases())
def test_a_comment_that_is_repeated_is_made_once(case):
    tracker = Tracker()
    replay(case, tracker)
    made = {issue: len(comments) for issue, comments in tracker.comments.items()}
    for turn in recording(case):
        for call in turn.get("calls", []):
            tracker.call(**call)
    assert {issue: len(comments) for issue, comments in tracker.comments.items()} == made


def test_every_recording_is_of_a_case():
    assert sorted(path.stem for path in CASSETTES.iterdir()) == sorted(cases())
