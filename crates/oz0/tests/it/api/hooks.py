"""What Schemathesis is told beside the description: how a bundle is sent, and that nobody here waits for a long poll."""

import json

import schemathesis


@schemathesis.serializer("application/vnd.oz0.bundle")
def bundle(_context, value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.query, dict) and isinstance(case.query.get("wait"), int):
        case.query["wait"] = 0
    if case.operation.path == "/v1/poll" and isinstance(case.body, dict):
        if isinstance(case.body.get("wait", 0), int):
            case.body["wait"] = 0
