"""A fake of the connector `tracker`, for the evals: its two functions, and what they changed."""

REPORTS = {
    "web": [
        {
            "id": 3,
            "title": "Typo on the start page",
            "body": "It says `Wellcome`. Open the start page.",
            "state": "open",
        },
        {"id": 2, "title": "It crashes", "body": "Please fix this soon.", "state": "open"},
    ],
    "docs": [
        {
            "id": 7,
            "title": "Dead link",
            "body": "The link to the guide gives 404. Click it in the footer.",
            "state": "open",
        },
    ],
}


class Tracker:
    def __init__(self):
        self.comments = {}

    def call(self, function, arguments):
        return getattr(self, function.removeprefix("tracker/tracker."))(**arguments)

    def list_issues(self, project):
        return {"issues": REPORTS[project]}

    def add_comment(self, id, body, idempotency_key):
        assert any(issue["id"] == id for issues in REPORTS.values() for issue in issues)
        assert body.strip()
        # The same key twice comments once.
        self.comments.setdefault(id, {}).setdefault(idempotency_key, body)
        return {"comments": len(self.comments[id])}
