-- The edge's store. Types that SQLite and PostgreSQL both have: TEXT, BIGINT (times are
-- milliseconds since 1970), and 0 or 1 for a truth.

CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);

-- 'revision' and 'audit'. Raised inside the transaction that uses the number, so that whoever sees a
-- number sees everything below it.
CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO counters (name, value) VALUES ('revision', 0), ('audit', 0);

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    prefix TEXT NOT NULL,
    may_approve BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
-- Two live tokens of one name would be one actor in the audit log.
CREATE UNIQUE INDEX live_token_names ON tokens (kind, name) WHERE revoked_at IS NULL;

CREATE TABLE nodes (node TEXT NOT NULL PRIMARY KEY, seen_at BIGINT NOT NULL);

CREATE TABLE versions (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    dev BIGINT NOT NULL,
    description TEXT NOT NULL,
    state TEXT NOT NULL,
    installed_at BIGINT NOT NULL,
    -- Which install was the later one; times may stand still or go back.
    install_rank BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (plugin, version)
);
CREATE UNIQUE INDEX one_installed_version ON versions (plugin) WHERE state = 'installed';
CREATE INDEX versions_by_revision ON versions (revision);

-- A version's tools that were ever listed or pinned. Rows outlive the plugin's removal.
CREATE TABLE tools (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    tool TEXT NOT NULL,
    snapshot_at BIGINT,
    snapshot_node TEXT,
    pin TEXT,
    PRIMARY KEY (plugin, version, tool)
);

CREATE TABLE tool_nodes (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    tool TEXT NOT NULL,
    node TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- Whether it ever gave a complete listing that the snapshot was compared with.
    compared BIGINT NOT NULL,
    functions TEXT NOT NULL,
    left_out TEXT NOT NULL,
    failure TEXT,
    PRIMARY KEY (plugin, version, tool, node)
);

CREATE TABLE functions (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    function TEXT NOT NULL,
    tool TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (plugin, version, function)
);
CREATE INDEX functions_by_revision ON functions (revision);

-- What is accepted of a function: hashes, and 'absent' where not being listed is.
CREATE TABLE accepted (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    function TEXT NOT NULL,
    value TEXT NOT NULL,
    listing TEXT,
    accepted_at BIGINT NOT NULL,
    accept_rank BIGINT NOT NULL,
    PRIMARY KEY (plugin, version, function, value)
);

-- What each node lists (now = 1), and the accepted values that it listed before.
CREATE TABLE sightings (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    function TEXT NOT NULL,
    node TEXT NOT NULL,
    value TEXT NOT NULL,
    now BIGINT NOT NULL,
    PRIMARY KEY (plugin, version, function, node, value)
);

-- What waits for approval. A change that is closed is gone from here, and told by the audit log.
CREATE TABLE changes (
    id TEXT NOT NULL PRIMARY KEY,
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    tool TEXT NOT NULL,
    function TEXT,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    listing TEXT,
    opened_at BIGINT NOT NULL
);
CREATE INDEX changes_by_version ON changes (plugin, version);

CREATE TABLE change_nodes (
    id TEXT NOT NULL,
    node TEXT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (id, node)
);

-- Who claims a model name, the earlier claim first.
CREATE TABLE model_names (
    model_name TEXT NOT NULL,
    function TEXT NOT NULL,
    plugin TEXT NOT NULL,
    claim_rank BIGINT NOT NULL,
    PRIMARY KEY (model_name, function)
);

CREATE TABLE mismatches (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    function TEXT NOT NULL,
    PRIMARY KEY (plugin, version, function)
);

CREATE TABLE calls (
    id TEXT NOT NULL PRIMARY KEY,
    function TEXT NOT NULL,
    arguments TEXT NOT NULL,
    node TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    result TEXT,
    problem TEXT
);
CREATE INDEX calls_by_node ON calls (node, state);

CREATE TABLE audit (
    position BIGINT NOT NULL PRIMARY KEY,
    edge TEXT NOT NULL,
    seq BIGINT NOT NULL,
    body TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE UNIQUE INDEX audit_chain ON audit (edge, seq);
CREATE TABLE audit_heads (edge TEXT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, hash TEXT NOT NULL);

-- Against mistakes of ours; whoever can write the file can drop them, and then the chain tells.
CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append only'); END;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append only'); END;
