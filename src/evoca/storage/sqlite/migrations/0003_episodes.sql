-- Episodes: free-text memories, their links, their history, and the work that follows a save in the background.

-- session_id: '' for none. signature: the content words in order, condensed; equal in near-identical texts.
-- used_count, last_used_at: how often it was recalled. archived_at: it is COLD, found only when asked for, without a
-- vector. merged_into: it was a copy; hidden, kept so that the merge can be undone. superseded_by: a newer memory
-- contradicts it.
CREATE TABLE episodes (
    id                    INTEGER PRIMARY KEY,
    collection_id         INTEGER NOT NULL REFERENCES collections (id),
    session_id            TEXT    NOT NULL,
    content               TEXT    NOT NULL,
    signature             BLOB    NOT NULL,
    memory_type           TEXT    NOT NULL,
    code                  TEXT    NOT NULL,
    nivel                 TEXT    NOT NULL,
    critico               INTEGER NOT NULL,
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    expires_at            INTEGER,
    used_count            INTEGER NOT NULL DEFAULT 0,
    last_used_at          INTEGER,
    consolidated_at       INTEGER,
    degraded_at           INTEGER,
    degraded_reason       TEXT,
    archived_at           INTEGER,
    archived_reason       TEXT,
    possible_duplicate_of INTEGER REFERENCES episodes (id) ON DELETE SET NULL,
    superseded_by         INTEGER REFERENCES episodes (id) ON DELETE SET NULL,
    merged_into           INTEGER REFERENCES episodes (id) ON DELETE CASCADE
);
CREATE INDEX episodes_collection ON episodes (collection_id, id);
CREATE INDEX episodes_signature ON episodes (collection_id, session_id, signature);
CREATE INDEX episodes_expiring ON episodes (expires_at) WHERE expires_at IS NOT NULL AND archived_at IS NULL;
CREATE INDEX episodes_duplicate ON episodes (possible_duplicate_of) WHERE possible_duplicate_of IS NOT NULL;
CREATE INDEX episodes_superseded ON episodes (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX episodes_merged ON episodes (merged_into) WHERE merged_into IS NOT NULL;

-- folded: the category without accents and case, by which it is filtered.
CREATE TABLE episode_categories (
    episode_id    INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    place         INTEGER NOT NULL,
    collection_id INTEGER NOT NULL,
    category      TEXT    NOT NULL,
    folded        TEXT    NOT NULL,
    PRIMARY KEY (episode_id, place)
) WITHOUT ROWID;
CREATE INDEX episode_categories_folded ON episode_categories (collection_id, folded);

-- weight: as given; what is left of it after a time is computed, never written back. details: JSON, of a
-- contradiction its confidence, kind and what differs.
CREATE TABLE episode_links (
    id            INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL,
    source_id     INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    target_id     INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    relation_type TEXT    NOT NULL,
    weight        REAL    NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    details       TEXT,
    CHECK (source_id <> target_id)
);
CREATE UNIQUE INDEX episode_links_pair ON episode_links (source_id, target_id, relation_type);
CREATE INDEX episode_links_target ON episode_links (target_id);
CREATE INDEX episode_links_collection ON episode_links (collection_id);

-- What a memory was before an update; version counts from 1. categories: a JSON array.
CREATE TABLE episode_versions (
    episode_id    INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    version       INTEGER NOT NULL,
    collection_id INTEGER NOT NULL,
    session_id    TEXT    NOT NULL,
    content       TEXT    NOT NULL,
    memory_type   TEXT    NOT NULL,
    code          TEXT    NOT NULL,
    categories    TEXT    NOT NULL,
    nivel         TEXT    NOT NULL,
    critico       INTEGER NOT NULL,
    expires_at    INTEGER,
    replaced_at   INTEGER NOT NULL,
    PRIMARY KEY (episode_id, version)
);

-- A copy that went into a survivor. details: JSON, what the merge changed besides, to be taken back with it.
CREATE TABLE merges (
    id            INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL,
    survivor_id   INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    merged_id     INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    merged_at     INTEGER NOT NULL,
    undone_at     INTEGER,
    details       TEXT    NOT NULL
);
CREATE INDEX merges_survivor ON merges (survivor_id);
CREATE INDEX merges_merged ON merges (merged_id);
CREATE INDEX merges_collection ON merges (collection_id);

-- Memories whose surroundings are to be looked at as soon as they have a vector: copies, links (auto_link),
-- contradictions. A live lease keeps other processes away.
CREATE TABLE enrichments (
    episode_id    INTEGER PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    collection_id INTEGER NOT NULL,
    auto_link     INTEGER NOT NULL,
    lease_owner   TEXT,
    leased_until  INTEGER
);
