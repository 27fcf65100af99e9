-- Facts as they are told, and who may ask for them.

-- value_kind: what a literal was told as; NULL is text, else 'number' or 'boolean' (value is its JSON then).
-- active: no end is known (ended_at is NULL). Whether an edge is current, its times say: one may begin in the future,
-- and one whose end is known may still have it before it.
ALTER TABLE edges ADD COLUMN value_kind TEXT;
DROP INDEX edges_active_value;
CREATE UNIQUE INDEX edges_active_value ON edges (subject_id, predicate, value, coalesce(value_kind, ''))
    WHERE active = 1 AND value IS NOT NULL;
CREATE INDEX edges_predicate ON edges (collection_id, predicate);
DROP INDEX edges_subject;
CREATE INDEX edges_subject ON edges (subject_id, predicate, object_id);
CREATE INDEX observations_collection ON observations (collection_id);

-- Edges of older stores have no documents yet; the background indexer makes them and empties this table.
CREATE TABLE unindexed_edges (
    edge_id       INTEGER PRIMARY KEY REFERENCES edges (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL
);
INSERT INTO unindexed_edges (edge_id, collection_id) SELECT id, collection_id FROM edges;

-- late: documents of facts wait behind all others, and nobody who searches elsewhere waits for them.
ALTER TABLE pending ADD COLUMN late INTEGER NOT NULL DEFAULT 0;

-- digest: SHA-256 of the secret. scope: 1 read, 2 write, 3 admin. everywhere: the key sees every collection.
CREATE TABLE keys (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT    NOT NULL,
    digest       BLOB    NOT NULL UNIQUE,
    scope        INTEGER NOT NULL,
    everywhere   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    last_used_at INTEGER
);
CREATE UNIQUE INDEX keys_name ON keys (name) WHERE revoked_at IS NULL;

CREATE TABLE key_collections (
    key_id        INTEGER NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    PRIMARY KEY (key_id, collection_id)
) WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES ('keys', 0);
