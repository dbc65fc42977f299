-- What one edge knows and others need to, where several keep one store.

-- The edge that a node polls, and whether it does: there, lost or left. How well it contains servers, and why not better.
-- The version of oz0 that it is.
ALTER TABLE nodes ADD COLUMN edge TEXT;
ALTER TABLE nodes ADD COLUMN presence TEXT NOT NULL DEFAULT 'lost';
ALTER TABLE nodes ADD COLUMN tier BIGINT;
ALTER TABLE nodes ADD COLUMN reason TEXT;
ALTER TABLE nodes ADD COLUMN version TEXT;

-- The edge at which a call's node waits for the decision; NULL of one from before.
ALTER TABLE approvals ADD COLUMN edge TEXT;

-- The edges, each of which counts up for as long as it runs.
CREATE TABLE edges (
    edge TEXT NOT NULL PRIMARY KEY,
    beat BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
