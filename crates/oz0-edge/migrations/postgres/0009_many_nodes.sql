-- What is looked up after each commit, and at each report, whichever of many nodes it is of.
CREATE INDEX waiting_calls ON calls (node) WHERE state = 'waiting';
CREATE INDEX flips_by_node ON flips (node);
CREATE INDEX nodes_that_go_on ON tool_nodes (node) WHERE goes_on IS NOT NULL;
