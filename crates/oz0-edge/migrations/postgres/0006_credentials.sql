-- Secrets that operators set, and connections to outside systems. What is secret of them is sealed: the key is not in here.

CREATE TABLE secrets (
    plugin TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    sealed TEXT COLLATE "C" NOT NULL,
    set_at BIGINT NOT NULL,
    set_by TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (plugin, name)
);

CREATE TABLE connections (
    plugin TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    -- What it is connected with: 'secrets' or 'oauth'.
    kind TEXT COLLATE "C" NOT NULL,
    params TEXT COLLATE "C" NOT NULL,
    sealed TEXT COLLATE "C" NOT NULL,
    -- The scopes that were granted; NULL where nobody said.
    scopes TEXT COLLATE "C",
    expires_at BIGINT,
    renews BIGINT NOT NULL,
    -- Why its token could not be renewed the last time.
    failure TEXT COLLATE "C",
    -- Another one each time that it is connected.
    generation TEXT COLLATE "C" NOT NULL,
    connected_at BIGINT NOT NULL,
    connected_by TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (plugin, name)
);

-- The revision at which a plugin's secrets or connections last changed, for the nodes that run it.
CREATE TABLE credentials (
    plugin TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);
