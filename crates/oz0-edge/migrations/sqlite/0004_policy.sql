-- The tenant's policy, in the order in which its rules count, and the calls that wait for a person.

-- 'policy': the revision at which the tenant's policy last changed.
INSERT INTO counters (name, value) VALUES ('policy', 0);

CREATE TABLE policy_rules (
    id TEXT NOT NULL PRIMARY KEY,
    place BIGINT NOT NULL,
    rule TEXT NOT NULL,
    set_at BIGINT NOT NULL,
    set_by TEXT NOT NULL
);

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    node TEXT NOT NULL,
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    function TEXT NOT NULL,
    kind TEXT NOT NULL,
    listing TEXT NOT NULL,
    -- Emptied when it is decided.
    arguments TEXT NOT NULL,
    digest TEXT NOT NULL,
    client TEXT NOT NULL,
    why TEXT NOT NULL,
    requires_approval BIGINT NOT NULL,
    call TEXT,
    state TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT,
    reason TEXT
);
CREATE INDEX approvals_by_state ON approvals (state, asked_at);
CREATE INDEX approvals_by_call ON approvals (call);

-- Whether the asker waits for a person as well.
ALTER TABLE calls ADD COLUMN patient BIGINT NOT NULL DEFAULT 0;
