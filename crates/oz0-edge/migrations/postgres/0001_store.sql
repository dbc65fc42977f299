-- The edge's store. Types that SQLite and PostgreSQL both have: TEXT, BIGINT (times are
-- milliseconds since 1970), and 0 or 1 for a truth. Texts are in the order of their bytes, as in SQLite.

CREATE TABLE meta (name TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT COLLATE "C" NOT NULL);

-- 'revision' and 'audit'. Raised inside the transaction that uses the number, so that whoever sees a
-- number sees everything below it.
CREATE TABLE counters (name TEXT COLLATE "C" NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO counters (name, value) VALUES ('revision', 0), ('audit', 0);

CREATE TABLE tokens (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    prefix TEXT COLLATE "C" NOT NULL,
    may_approve BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
-- Two live tokens of one name would be one actor in the audit log.
CREATE UNIQUE INDEX live_token_names ON tokens (kind, name) WHERE revoked_at IS NULL;

CREATE TABLE nodes (node TEXT COLLATE "C" NOT NULL PRIMARY KEY, seen_at BIGINT NOT NULL);

CREATE TABLE versions (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    dev BIGINT NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
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
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    snapshot_at BIGINT,
    snapshot_node TEXT COLLATE "C",
    pin TEXT COLLATE "C",
    PRIMARY KEY (plugin, version, tool)
);

CREATE TABLE tool_nodes (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    -- Whether it ever gave a complete listing that the snapshot was compared with.
    compared BIGINT NOT NULL,
    functions TEXT COLLATE "C" NOT NULL,
    left_out TEXT COLLATE "C" NOT NULL,
    failure TEXT COLLATE "C",
    PRIMARY KEY (plugin, version, tool, node)
);

CREATE TABLE functions (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (plugin, version, function)
);
CREATE INDEX functions_by_revision ON functions (revision);

-- What is accepted of a function: hashes, and 'absent' where not being listed is.
CREATE TABLE accepted (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    listing TEXT COLLATE "C",
    accepted_at BIGINT NOT NULL,
    accept_rank BIGINT NOT NULL,
    PRIMARY KEY (plugin, version, function, value)
);

-- What each node lists (now = 1), and the accepted values that it listed before.
CREATE TABLE sightings (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    now BIGINT NOT NULL,
    PRIMARY KEY (plugin, version, function, node, value)
);

-- What waits for approval. A change that is closed is gone from here, and told by the audit log.
CREATE TABLE changes (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    listing TEXT COLLATE "C",
    opened_at BIGINT NOT NULL
);
CREATE INDEX changes_by_version ON changes (plugin, version);

CREATE TABLE change_nodes (
    id TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (id, node)
);

-- Who claims a model name, the earlier claim first.
CREATE TABLE model_names (
    model_name TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    plugin TEXT COLLATE "C" NOT NULL,
    claim_rank BIGINT NOT NULL,
    PRIMARY KEY (model_name, function)
);

CREATE TABLE mismatches (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (plugin, version, function)
);

CREATE TABLE calls (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    function TEXT COLLATE "C" NOT NULL,
    arguments TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    asked_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT,
    result TEXT COLLATE "C",
    problem TEXT COLLATE "C"
);
CREATE INDEX calls_by_node ON calls (node, state);

CREATE TABLE audit (
    position BIGINT NOT NULL PRIMARY KEY,
    edge TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    prev TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX audit_chain ON audit (edge, seq);
CREATE TABLE audit_heads (edge TEXT COLLATE "C" NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, hash TEXT COLLATE "C" NOT NULL);

-- Against mistakes of ours; whoever owns the tables can drop them, and then the chain tells.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit log is append only'; END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
