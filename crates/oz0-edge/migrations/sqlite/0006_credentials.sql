-- Secrets that operators set, and connections to outside systems. What is secret of them is sealed: the key is not in here.

CREATE TABLE secrets (
    plugin TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    set_at BIGINT NOT NULL,
    set_by TEXT NOT NULL,
    PRIMARY KEY (plugin, name)
);

CREATE TABLE connections (
    plugin TEXT NOT NULL,
    name TEXT NOT NULL,
    -- What it is connected with: 'secrets' or 'oauth'.
    kind TEXT NOT NULL,
    params TEXT NOT NULL,
    sealed TEXT NOT NULL,
    -- The scopes that were granted; NULL where nobody said.
    scopes TEXT,
    expires_at BIGINT,
    renews BIGINT NOT NULL,
    -- Why its token could not be renewed the last time.
    failure TEXT,
    -- Another one each time that it is connected.
    generation TEXT NOT NULL,
    connected_at BIGINT NOT NULL,
    connected_by TEXT NOT NULL,
    PRIMARY KEY (plugin, name)
);

-- The revision at which a plugin's secrets or connections last changed, for the nodes that run it.
CREATE TABLE credentials (
    plugin TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);
