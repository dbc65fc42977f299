"""Notes, on the Python MCP SDK: search and append, in one file of JSON lines."""

import json
import os
import pathlib
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("notes-sdk", version="1.0.0")


class Note(BaseModel):
    key: str
    text: str


class Found(BaseModel):
    notes: list[Note]


class Saved(BaseModel):
    added: bool = Field(description="False when the key was saved already")


def path() -> pathlib.Path:
    """Where the notes are kept: NOTES_FILE, which the tests set, else the home folder the server is given."""
    return pathlib.Path(os.environ.get("NOTES_FILE") or pathlib.Path.home() / "notes.jsonl")


def read() -> list[Note]:
    if not path().exists():
        return []
    return [Note.model_validate_json(line) for line in path().read_text(encoding="utf-8").splitlines()]


@server.tool(
    title="Search notes",
    description="Find the notes that hold a word, the newest first.",
    annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
)
def search(word: Annotated[str, Field(description="The word, in any case; every note when empty")]) -> Found:
    return Found(notes=[note for note in reversed(read()) if word.casefold() in note.text.casefold()])


@server.tool(
    title="Save a note",
    description="Save a note under a key. The same key twice saves it once.",
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
def save(
    key: Annotated[str, Field(description="Another key for each note")],
    text: Annotated[str, Field(description="The note")],
) -> Saved:
    for note in read():
        if note.key == key:
            if note.text != text:
                raise ToolError(f"the key {key} holds another note")
            return Saved(added=False)
    with path().open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "text": text}) + "\n")
    return Saved(added=True)


if __name__ == "__main__":
    server.run()
