"""Writes the snapshot of what the fake lists: `python3 tests/snapshot.py`, after a change of the fake.

Look at what it changed, as at any other edit: it says which server the plugin was written for.
"""

import hashlib
import json
import pathlib

from fake_server import TOOLS

PLUGIN = pathlib.Path(__file__).parent.parent
SNAPSHOT = PLUGIN / "snapshots" / "template-name.json"
# What a snapshot pins of what a server lists.
PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


def pinned(function):
    """A function as a snapshot holds it, with the hash of its listing."""
    listing = {key: function[key] for key in PINNED if key in function}
    # For text in ASCII and whole numbers this is RFC 8785's canonical JSON, which is what is hashed.
    canonical = json.dumps(listing, sort_keys=True, separators=(",", ":"))
    assert canonical.isascii()
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return {"name": f"template-name.{function['name']}", "hash": f"sha256:{digest}", "listing": listing}


def main():
    snapshot = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    snapshot["functions"] = sorted(map(pinned, TOOLS), key=lambda function: function["name"])
    SNAPSHOT.write_text(json.dumps(snapshot, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
