"""Looks for credentials in the arguments of calls. The protocol stands in `mcp_stdio.py`."""

import re

from mcp_stdio import fields, function, serve

# What a credential looks like, by its kind. Each pattern is one that ordinary text does not match: a policy that refuses
# what is harmless is soon switched off.
PATTERNS = {
    "a private key": re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{82})"),
    "a GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20}"),
    "a Slack token": re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    "a password in a URL": re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@"),
}


@function(
    title="Check a call",
    description="Say whether a call may go on: it may not when its arguments hold a credential.",
    takes=fields(
        {
            "on": {"type": "string", "description": "When the hook is called: before_call"},
            "plugin": {"type": "string", "description": "The plugin whose function is called"},
            "version": {"type": "string", "description": "The plugin's version"},
            "function": {"type": "string", "description": "The function that is called"},
            "type": {"type": "string", "description": "What the function may do, such as read or write"},
            "arguments": {"type": "object", "description": "The call's arguments"},
        }
    ),
    gives=fields(
        {
            "decision": {"type": "string", "enum": ["allow", "refuse"]},
            "reason": {"type": "string", "description": "Why it is refused"},
        },
        optional=["reason"],
    ),
    acts={"readOnlyHint": True, "openWorldHint": False},
)
def check_call(function, arguments, **_):
    found = next(credentials(arguments), None)
    if found is None:
        return {"decision": "allow"}
    kind, place = found
    # Where and what, and never the credential itself: reasons are logged, and models read them.
    return {"decision": "refuse", "reason": f"{place} of a call of {function} holds {kind}"}


def credentials(value, place="the arguments"):
    """Each credential in a JSON value: its kind, and the JSON pointer to where it stands."""
    # A list of what is left, since arguments may nest as deep as their sender likes.
    left = [("", value)]
    while left:
        pointer, value = left.pop()
        if isinstance(value, dict):
            for name, member in value.items():
                # A name can hold one too, and a pointer must not repeat it.
                hidden = kind_of(name)
                if hidden:
                    yield hidden, f"a name at {pointer or 'the top'}"
                else:
                    left.append((f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}", member))
        elif isinstance(value, list):
            left.extend((f"{pointer}/{index}", item) for index, item in enumerate(value))
        elif isinstance(value, str) and (kind := kind_of(value)):
            yield kind, pointer or place


def kind_of(text):
    return next((kind for kind, pattern in PATTERNS.items() if pattern.search(text)), None)


if __name__ == "__main__":
    serve("template-name", "0.1.0")
