"""The tables that hold a store's memory, as every engine has them; what is not here an engine makes for itself.

Left out: migrations and the engines' own bookkeeping, the text and substring indexes (made anew), the change feed (who
reads a store that was copied begins with everything).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """`key`: columns that tell its rows apart, and their order.

    `later`: columns that refer to rows of the table itself; they are set when all of these are there.
    """

    name: str
    key: tuple[str, ...]
    others: tuple[str, ...]
    later: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.key, *self.others, *self.later)


def _table(name: str, key: str, others: str, later: str = "") -> Table:
    return Table(name, tuple(key.split()), tuple(others.split()), tuple(later.split()))


TABLES = (
    _table("collections", "id", "code name description created_at graph_version"),
    _table("models", "id", "name registered_at seen_at active"),
    _table("entities", "id", "collection_id name entity_type status folded created_at updated_at"),
    _table("aliases", "collection_id name", "entity_id created_at"),
    _table(
        "observations",
        "id",
        "collection_id entity_id content content_key kind superseded_at similarity_flag created_at",
        "supersedes",
    ),
    _table(
        "edges",
        "id",
        "collection_id subject_id predicate object_id value value_kind context source confidence active created_at "
        "valid_from ended_at",
    ),
    _table("unindexed_edges", "edge_id", "collection_id"),
    _table("access", "entity_id", "collection_id uses last_access"),
    _table("access_log", "entity_id day", "collection_id uses"),
    _table("co_occurrences", "first_id second_id", "collection_id times last_at"),
    _table("reflections", "id", "collection_id target_type target_id former_target author mood content created_at"),
    _table(
        "episodes",
        "id",
        "collection_id session_id content signature memory_type code nivel critico created_at updated_at expires_at "
        "used_count last_used_at consolidated_at degraded_at degraded_reason archived_at archived_reason",
        "possible_duplicate_of superseded_by merged_into",
    ),
    _table("episode_categories", "episode_id place", "collection_id category folded"),
    _table(
        "episode_versions",
        "episode_id version",
        "collection_id session_id content memory_type code categories nivel critico expires_at replaced_at",
    ),
    _table(
        "episode_links",
        "id",
        "collection_id source_id target_id relation_type weight created_at last_used_at details",
    ),
    _table("merges", "id", "collection_id survivor_id merged_id merged_at undone_at details"),
    _table("enrichments", "episode_id", "collection_id auto_link lease_owner leased_until"),
    _table(
        "documents",
        "id",
        "collection_id owner_kind owner_id entity_id begin size more language words rest",
    ),
    _table("vectors", "document_id model_id", "collection_id vector"),
    _table("pending", "document_id model_id", "collection_id late lease_owner leased_until"),
    _table("keys", "id", "name digest scope everywhere created_at revoked_at last_used_at"),
    _table("key_collections", "key_id collection_id", ""),
    _table("metadata", "key", "value"),
)
"""In this order each row finds what it refers to."""
