-- How often a node saw a function change or change back in the present window: after so many entries
-- they are counted here, and one entry tells the count.
CREATE TABLE flips (
    plugin TEXT NOT NULL,
    version TEXT NOT NULL,
    function TEXT NOT NULL,
    tool TEXT NOT NULL,
    node TEXT NOT NULL,
    -- When the window began.
    since BIGINT NOT NULL,
    -- Entries that were written in it.
    told BIGINT NOT NULL,
    -- Changes after those, and what the last of them listed.
    untold BIGINT NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (plugin, version, function, node)
);
