-- The nodes that run a candidate, in the text form of a rollout; NULL of any other version.
ALTER TABLE versions ADD COLUMN rollout TEXT COLLATE "C";
CREATE UNIQUE INDEX one_candidate_version ON versions (plugin) WHERE state = 'candidate';
-- The version that a node goes on with where this one could not take its place there.
ALTER TABLE tool_nodes ADD COLUMN goes_on TEXT COLLATE "C";
