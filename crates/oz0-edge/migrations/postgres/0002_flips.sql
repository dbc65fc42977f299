-- How often a node saw a function change or change back in the present window: after so many entries
-- they are counted here, and one entry tells the count.
CREATE TABLE flips (
    plugin TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    function TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    -- When the window began.
    since BIGINT NOT NULL,
    -- Entries that were written in it.
    told BIGINT NOT NULL,
    -- Changes after those, and what the last of them listed.
    untold BIGINT NOT NULL,
    last TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (plugin, version, function, node)
);
