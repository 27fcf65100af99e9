-- Reflections, and where the further passages of a text that has grown are.

-- target_id: an entity's or an edge's id, or a number of the client's own for a session. No foreign key: what is
-- said of something outlives it, as a global reflection with former_target.
CREATE TABLE reflections (
    id            INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL REFERENCES collections (id),
    target_type   TEXT    NOT NULL,
    target_id     INTEGER,
    former_target TEXT,
    author        TEXT    NOT NULL,
    mood          TEXT,
    content       TEXT    NOT NULL,
    created_at    INTEGER NOT NULL
);
CREATE INDEX reflections_collection ON reflections (collection_id);
CREATE INDEX reflections_target ON reflections (target_id, target_type) WHERE target_id IS NOT NULL;

-- rest: the id of the second document of an owner whose text has changed; NULL: the ids follow the first one's.
ALTER TABLE documents ADD COLUMN rest INTEGER;
