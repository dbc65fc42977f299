"""The team's functions: what each takes, gives and does.

What people and models read about a function stands in `texts.json`, which is read at every listing: an edit there
changes what the server says of itself without a restart.
"""

import datetime
import json
import pathlib

HERE = pathlib.Path(__file__).parent
# The plugin's own folder cannot be written where it runs; the home folder it is given can.
NOTES = pathlib.Path.home() / "team-notes.jsonl"

READS = {"readOnlyHint": True, "openWorldHint": False}
# Adding never overwrites or deletes, and the key makes it safe to repeat.
ADDS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}

DAY = {"type": "string", "format": "date"}
NOTE = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "text": {"type": "string"}},
    "required": ["key", "text"],
}


class Refused(Exception):
    """The function cannot do what it was asked; the message is for whoever called it."""


def hello(name):
    return {"greeting": texts()["hello"]["greeting"].replace("{name}", name)}


def on_call(date=None):
    try:
        day = datetime.date.fromisoformat(date) if date else datetime.datetime.now(datetime.timezone.utc).date()
    except ValueError:
        raise Refused(f"not a day as YYYY-MM-DD: {date}") from None
    rota = read_json("rota.json")
    first, days, people = datetime.date.fromisoformat(rota["first_day"]), rota["days_each"], rota["people"]
    turn = (day - first).days // days
    if turn < 0:
        raise Refused(f"the rota begins on {first}")
    try:
        until = first + datetime.timedelta(days=(turn + 1) * days - 1)
    except OverflowError:
        raise Refused(f"the rota ends before {date}") from None
    return {"date": day.isoformat(), "person": people[turn % len(people)], "until": until.isoformat()}


def list_notes(limit=20):
    if limit < 1:
        raise Refused("limit must be 1 or more")
    return {"notes": read_notes()[::-1][:limit]}


def add_note(text, key):
    notes = read_notes()
    for note in notes:
        if note["key"] == key:
            if note["text"] != text:
                raise Refused(f"the key {key} has another note already")
            return {"added": False, "notes": len(notes)}
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "text": text}) + "\n")
    return {"added": True, "notes": len(notes) + 1}


def fields(required, properties):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


# Each function, what it takes (its argument's texts are added when it is listed), what it gives, and how it acts.
FUNCTIONS = {
    "hello": (
        hello,
        fields(["name"], {"name": {"type": "string"}}),
        fields(["greeting"], {"greeting": {"type": "string"}}),
        READS,
    ),
    "on_call": (
        on_call,
        fields([], {"date": DAY}),
        fields(["date", "person", "until"], {"date": DAY, "person": {"type": "string"}, "until": DAY}),
        READS,
    ),
    "list_notes": (
        list_notes,
        fields([], {"limit": {"type": "integer", "minimum": 1}}),
        fields(["notes"], {"notes": {"type": "array", "items": NOTE}}),
        READS,
    ),
    "add_note": (
        add_note,
        fields(["text", "key"], {"text": {"type": "string"}, "key": {"type": "string"}}),
        fields(["added", "notes"], {"added": {"type": "boolean"}, "notes": {"type": "integer"}}),
        ADDS,
    ),
}


def listing():
    """The functions as `tools/list` gives them."""
    said = texts()
    tools = []
    for name, (_, takes, gives, acts) in FUNCTIONS.items():
        text = said[name]
        properties = {
            argument: {**schema, "description": text["arguments"][argument]}
            for argument, schema in takes["properties"].items()
        }
        tools.append({
            "name": name,
            "title": text["title"],
            "description": text["description"],
            "inputSchema": {**takes, "properties": properties},
            "outputSchema": gives,
            "annotations": acts,
        })
    return tools


def call(name, arguments):
    function, takes, _, _ = FUNCTIONS[name]
    check(arguments, takes)
    return function(**arguments)


def check(arguments, schema):
    """Holds arguments against the part of JSON Schema that the functions use."""
    types = {"string": str, "integer": int}
    missing = [name for name in schema["required"] if name not in arguments]
    if missing:
        raise Refused(f"missing: {', '.join(missing)}")
    for name, value in arguments.items():
        if name not in schema["properties"]:
            raise Refused(f"unknown argument: {name}")
        wanted = schema["properties"][name]["type"]
        # To Python, true is an integer too.
        if not isinstance(value, types[wanted]) or isinstance(value, bool):
            raise Refused(f"{name} must be of type {wanted}")


def texts():
    return read_json("texts.json")


def read_json(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def read_notes():
    if not NOTES.exists():
        return []
    return [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
