"""A to-do list: what each function takes, gives and does. The protocol stands in `mcp_stdio.py`."""

import json
import os
import pathlib

from mcp_stdio import Refused, fields, function, serve

# The plugin's own folder cannot be written where it runs; the home folder that it is given can.
TASKS = pathlib.Path.home() / "tasks.json"

# How each function acts. MCP reads one that says nothing as a destructive write, and so asks a person (OZ-S004).
READS = {"readOnlyHint": True, "openWorldHint": False}
ADDS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
REMOVES = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}

# A key of the caller's choosing makes a write safe to repeat: an answer that got lost does not do it twice.
KEY = {"type": "string", "description": "A key of the caller's choosing, another for each task"}
TASK = fields({"key": {"type": "string"}, "text": {"type": "string"}})


@function(
    title="List tasks",
    description="List the tasks, the oldest first.",
    takes=fields({}),
    gives=fields({"tasks": {"type": "array", "items": TASK}}),
    acts=READS,
)
def list_tasks():
    return {"tasks": read()}


@function(
    title="Add a task",
    description="Add a task to the end of the list. A second call with the same key adds nothing, so it is safe to repeat.",
    takes=fields({"text": {"type": "string", "description": "What is to be done"}, "key": KEY}),
    gives=fields({"added": {"type": "boolean", "description": "False when the key was on the list already"}}),
    acts=ADDS,
)
def add_task(text, key):
    if not text.strip():
        raise Refused("text must not be blank")
    tasks = read()
    for task in tasks:
        if task["key"] == key:
            if task["text"] != text:
                raise Refused("the key has another task already")
            return {"added": False}
    write([*tasks, {"key": key, "text": text}])
    return {"added": True}


@function(
    title="Remove a task",
    description="Remove the task with a key, for good. Removing it again changes nothing.",
    takes=fields({"key": KEY}),
    gives=fields({"removed": {"type": "boolean", "description": "False when no task has the key"}}),
    acts=REMOVES,
)
def remove_task(key):
    tasks = read()
    kept = [task for task in tasks if task["key"] != key]
    if len(kept) < len(tasks):
        write(kept)
    return {"removed": len(kept) < len(tasks)}


def read():
    return json.loads(TASKS.read_text(encoding="utf-8")) if TASKS.exists() else []


def write(tasks):
    # Renamed over the old one, so that a server that is stopped on the way leaves one or the other, whole.
    new = TASKS.with_suffix(".new")
    new.write_text(json.dumps(tasks), encoding="utf-8")
    os.replace(new, TASKS)


if __name__ == "__main__":
    serve("template-name", "0.1.0")
