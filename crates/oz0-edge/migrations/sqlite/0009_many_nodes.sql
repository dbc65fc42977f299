-- What is looked up after each commit, and at each report, whichever of many nodes it is of.
CREATE INDEX waiting_calls ON calls (node) WHERE state = 'waiting';
CREATE INDEX flips_by_node ON flips (node);
