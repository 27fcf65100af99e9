-- The graph and its search index.
--
-- Times are microseconds since 1970-01-01T00:00:00Z. One sequence (counters 'items') gives the ids of everything
-- that can be remembered: entities, observations, edges, later reflections and episodes. An id is never used again,
-- order of insertion is order of id, and a document has its owner's id, its further passages the ids that follow.

CREATE TABLE migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
);

CREATE TABLE counters (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- items: the next free id. documents: the change counter. documents_kept: changes up to it are forgotten.
-- substrings: the last id that the substring index knows.
INSERT INTO counters (name, value) VALUES ('items', 1), ('documents', 0), ('documents_kept', 0), ('substrings', 0);

CREATE TABLE metadata (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE collections (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    code          TEXT    NOT NULL UNIQUE,
    name          TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    graph_version INTEGER NOT NULL DEFAULT 0
);

INSERT INTO collections (code, name, description, created_at) VALUES ('default', 'default', '', :now);

-- folded: CRC-32 of the casefolded name, for lookups that forgive case; the names themselves are compared then.
CREATE TABLE entities (
    id            INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL REFERENCES collections (id),
    name          TEXT    NOT NULL,
    entity_type   TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    folded        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
);
CREATE UNIQUE INDEX entities_name ON entities (collection_id, name);
CREATE INDEX entities_folded ON entities (collection_id, folded);
CREATE INDEX entities_collection ON entities (collection_id);

CREATE TABLE aliases (
    collection_id INTEGER NOT NULL REFERENCES collections (id),
    name          TEXT    NOT NULL,
    entity_id     INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (collection_id, name)
) WITHOUT ROWID;
CREATE INDEX aliases_entity ON aliases (entity_id);

-- kind: NULL is 'generic'. content_key: CRC-32 of the content; equal contents of an entity are found by it.
CREATE TABLE observations (
    id              INTEGER PRIMARY KEY,
    collection_id   INTEGER NOT NULL REFERENCES collections (id),
    entity_id       INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    content         TEXT    NOT NULL,
    content_key     INTEGER NOT NULL,
    kind            TEXT,
    supersedes      INTEGER REFERENCES observations (id) ON DELETE SET NULL,
    superseded_at   INTEGER,
    similarity_flag INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL
);
CREATE INDEX observations_entity ON observations (entity_id, content_key);
CREATE INDEX observations_supersedes ON observations (supersedes) WHERE supersedes IS NOT NULL;

-- Relations and facts: the object is an entity (object_id) or a literal (value).
CREATE TABLE edges (
    id            INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL REFERENCES collections (id),
    subject_id    INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    predicate     TEXT    NOT NULL,
    object_id     INTEGER REFERENCES entities (id) ON DELETE CASCADE,
    value         TEXT,
    context       TEXT,
    source        TEXT,
    confidence    REAL    NOT NULL DEFAULT 1,
    active        INTEGER NOT NULL DEFAULT 1,
    created_at    INTEGER NOT NULL,
    valid_from    INTEGER,
    ended_at      INTEGER,
    CHECK ((object_id IS NULL) <> (value IS NULL))
);
CREATE UNIQUE INDEX edges_active ON edges (subject_id, predicate, object_id) WHERE active = 1 AND object_id IS NOT NULL;
CREATE UNIQUE INDEX edges_active_value ON edges (subject_id, predicate, value) WHERE active = 1 AND value IS NOT NULL;
CREATE INDEX edges_subject ON edges (subject_id);
CREATE INDEX edges_object ON edges (object_id) WHERE object_id IS NOT NULL;
CREATE INDEX edges_collection ON edges (collection_id);

CREATE TABLE access (
    entity_id     INTEGER PRIMARY KEY REFERENCES entities (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL,
    uses          INTEGER NOT NULL,
    last_access   INTEGER NOT NULL
);

-- day: whole UTC days since 1970-01-01.
CREATE TABLE access_log (
    entity_id     INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    day           INTEGER NOT NULL,
    collection_id INTEGER NOT NULL,
    uses          INTEGER NOT NULL,
    PRIMARY KEY (entity_id, day)
) WITHOUT ROWID;

CREATE TABLE co_occurrences (
    first_id      INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    second_id     INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL,
    times         INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    PRIMARY KEY (first_id, second_id),
    CHECK (first_id < second_id)
) WITHOUT ROWID;
CREATE INDEX co_occurrences_second ON co_occurrences (second_id);

-- A passage of its owner's text: `size` characters from `begin` on. more: how many further documents the owner has
-- after this one. words: the length for BM25. language: 0 unknown, 1 Spanish, 2 English.
CREATE TABLE documents (
    id            INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL,
    owner_kind    INTEGER NOT NULL,
    owner_id      INTEGER NOT NULL,
    entity_id     INTEGER NOT NULL,
    begin         INTEGER NOT NULL,
    size          INTEGER NOT NULL,
    more          INTEGER NOT NULL,
    language      INTEGER NOT NULL,
    words         INTEGER NOT NULL
);

-- Which ids may have changed at a value of the change counter. What is in them and lives, lives on changed.
CREATE TABLE document_changes (
    counter  INTEGER NOT NULL,
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL,
    PRIMARY KEY (counter, first_id)
) WITHOUT ROWID;

CREATE TABLE tombstones (
    counter       INTEGER NOT NULL,
    document_id   INTEGER NOT NULL,
    PRIMARY KEY (counter, document_id)
) WITHOUT ROWID;

-- active: new documents wait for its vectors. A model that nobody has used for long rests until it is registered again.
CREATE TABLE models (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL UNIQUE,
    registered_at INTEGER NOT NULL,
    seen_at       INTEGER NOT NULL,
    active        INTEGER NOT NULL DEFAULT 1
);

-- vector: raw unit float16. Not WITHOUT ROWID: rows of a kilobyte would spill into overflow pages there.
CREATE TABLE vectors (
    document_id   INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    model_id      INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL,
    vector        BLOB    NOT NULL
);
CREATE UNIQUE INDEX vectors_document ON vectors (document_id, model_id);

-- Documents that wait for a model's vector. A live lease (leased_until) keeps others away.
CREATE TABLE pending (
    document_id   INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    model_id      INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL,
    lease_owner   TEXT,
    leased_until  INTEGER,
    PRIMARY KEY (document_id, model_id)
) WITHOUT ROWID;

-- Which documents hold a term: rowid is the document's id. Only membership is kept, no text and no positions.
-- Stored terms are ASCII letters and digits or any other letters, with the collection before an underscore.
CREATE VIRTUAL TABLE text_index USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);

-- Which entities (name, type) and observations hold three characters in a row: rowid is the owner's id.
-- The text is NFC and casefolded before it comes here, so case counts.
CREATE VIRTUAL TABLE substring_index USING fts5 (
    folded, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);

-- Segments are merged eight at a time: writing costs a tenth less than with four, and asking no more.
INSERT INTO text_index (text_index, rank) VALUES ('automerge', 8), ('crisismerge', 16);
INSERT INTO substring_index (substring_index, rank) VALUES ('automerge', 8), ('crisismerge', 16);
