-- The tenant's policy, in the order in which its rules count, and the calls that wait for a person.

-- 'policy': the revision at which the tenant's policy last changed.
INSERT INTO counters (name, value) VALUES ('policy', 0);

CREATE TABLE policy_rules (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    place BIGINT NOT NULL,
    rule TEXT COLLATE "C" NOT NULL,
    set_at BIGINT NOT NULL,
    set_by TEXT COLLATE "C" NOT NULL
);

CREATE TABLE approvals (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node TEXT COLLATE "C" NOT NULL,
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    listing TEXT COLLATE "C" NOT NULL,
    -- Emptied when it is decided.
    arguments TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C" NOT NULL,
    requires_approval BIGINT NOT NULL,
    call TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL,
    asked_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT COLLATE "C",
    reason TEXT COLLATE "C"
);
CREATE INDEX approvals_by_state ON approvals (state, asked_at);
CREATE INDEX approvals_by_call ON approvals (call);

-- Whether the asker waits for a person as well.
ALTER TABLE calls ADD COLUMN patient BIGINT NOT NULL DEFAULT 0;
