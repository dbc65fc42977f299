"""A client of the server, for tests: starts it as a node does, and asks over its stdin and stdout."""

import json
import os
import pathlib
import subprocess
import sys

PLUGIN = pathlib.Path(__file__).parent.parent
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    """The server runs while its `with` block runs, in a home folder of its own."""

    def __init__(self, home):
        self.home = home
        self.requests = 0

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "server.py"],
            cwd=PLUGIN,
            env={**os.environ, "HOME": str(self.home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(timeout=10) == 0

    def send(self, line):
        """Gives the server a line, and takes its answer."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, method, meta=META, **params):
        """The whole answer: with `result`, or with `error`."""
        self.requests += 1
        if meta:
            params["_meta"] = meta
        request = {"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}
        answer = self.send(json.dumps(request))
        assert answer["id"] == self.requests
        return answer

    def functions(self):
        return {function["name"]: function for function in self.ask("tools/list")["result"]["tools"]}

    def call(self, name, **arguments):
        """What a call gives; of one that is refused, why."""
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        return result["content"][0]["text"] if result.get("isError") else result["structuredContent"]
