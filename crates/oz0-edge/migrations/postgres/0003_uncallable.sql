-- Why a node refuses the calls of functions that it lists as accepted, as JSON by function.
ALTER TABLE tool_nodes ADD COLUMN uncallable TEXT COLLATE "C" NOT NULL DEFAULT '{}';
