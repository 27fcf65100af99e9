"""What the memory tools answer: Spanish sentences in `result`, everything else in keys beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

from evoca.domain.clock import to_iso

if TYPE_CHECKING:
    from evoca.domain.clock import Instant
    from evoca.domain.episodes import Episode, EpisodeLink, EpisodeVersion
    from evoca.services.episodes import EpisodeDetails, EpisodeView
    from evoca.services.recalling import Compressed, EpisodeHit, Recalled


class MemoryScores(TypedDict):
    words: float
    meaning: float | None
    recency: float


class MemoryJson(TypedDict):
    id: int
    content: str
    memory_type: str
    code: str
    categories: list[str]
    session_id: str
    nivel: str
    critico: bool
    tier: str
    created_at: str
    updated_at: NotRequired[str]
    expires_at: NotRequired[str]
    used_count: NotRequired[int]
    last_used_at: NotRequired[str]
    archived_at: NotRequired[str]
    archived_reason: NotRequired[str]
    consolidated_at: NotRequired[str]
    degraded_at: NotRequired[str]
    degraded_reason: NotRequired[str]
    possible_duplicate_of: NotRequired[int]
    contradicts: NotRequired[list[int]]
    superseded_by: NotRequired[int]
    merged_into: NotRequired[int]
    score: NotRequired[float]
    scores: NotRequired[MemoryScores]


class LinkJson(TypedDict):
    id: int
    source_id: int
    target_id: int
    relation_type: str
    weight: float


class VersionJson(TypedDict):
    version: int
    content: str
    memory_type: str
    code: str
    categories: list[str]
    session_id: str
    nivel: str
    critico: bool
    replaced_at: str


class MemoryWriteResult(TypedDict):
    result: str
    status: str
    id: NotRequired[int]
    tier: NotRequired[str]
    warnings: list[str]
    duplicate_of: NotRequired[int]
    similarity: NotRequired[float]
    not_saved: NotRequired[list[str]]
    changed: NotRequired[list[str]]


class GetMemoryResult(TypedDict):
    result: str
    status: str
    id: int
    tier: str
    memory: MemoryJson
    links: list[LinkJson]
    versions: list[VersionJson]
    warnings: list[str]


class SearchMemoriesResult(TypedDict):
    result: str
    status: str
    memories: list[MemoryJson]
    count: int
    total: int
    has_more: bool
    warnings: list[str]


class CompressResult(TypedDict):
    result: str
    status: str
    context: str
    tokens: int
    memories: list[int]
    warnings: list[str]


def memory_json(view: EpisodeView) -> MemoryJson:
    """A memory as every tool shows it."""
    episode = view.episode
    shown: MemoryJson = {
        "id": episode.id,
        "content": episode.content,
        "memory_type": episode.memory_type,
        "code": episode.code,
        "categories": list(episode.categories),
        "session_id": episode.session_id,
        "nivel": episode.nivel,
        "critico": episode.critico,
        "tier": view.tier,
        "created_at": to_iso(episode.created_at),
    }
    if episode.superseded_by is not None:
        shown["superseded_by"] = episode.superseded_by
    if episode.possible_duplicate_of is not None:
        shown["possible_duplicate_of"] = episode.possible_duplicate_of
    if episode.expires_at is not None:
        shown["expires_at"] = to_iso(episode.expires_at)
    return shown


def _whole(view: EpisodeView) -> MemoryJson:
    """A memory with everything that is known of it."""
    episode = view.episode
    shown = memory_json(view)
    shown["updated_at"] = to_iso(episode.updated_at)
    shown["used_count"] = episode.used_count
    _put_times(shown, episode)
    if episode.archived_reason is not None:
        shown["archived_reason"] = episode.archived_reason
    if episode.degraded_reason is not None:
        shown["degraded_reason"] = episode.degraded_reason
    if episode.merged_into is not None:
        shown["merged_into"] = episode.merged_into
    return shown


def _put_times(shown: MemoryJson, episode: Episode) -> None:
    if episode.last_used_at is not None:
        shown["last_used_at"] = to_iso(episode.last_used_at)
    if episode.archived_at is not None:
        shown["archived_at"] = to_iso(episode.archived_at)
    if episode.consolidated_at is not None:
        shown["consolidated_at"] = to_iso(episode.consolidated_at)
    if episode.degraded_at is not None:
        shown["degraded_at"] = to_iso(episode.degraded_at)


def link_json(link: EpisodeLink) -> LinkJson:
    return {
        "id": link.id,
        "source_id": link.source_id,
        "target_id": link.target_id,
        "relation_type": link.relation_type,
        "weight": round(link.weight, 4),
    }


def _version_json(version: EpisodeVersion) -> VersionJson:
    return {
        "version": version.version,
        "content": version.content,
        "memory_type": version.memory_type,
        "code": version.code,
        "categories": list(version.categories),
        "session_id": version.session_id,
        "nivel": version.nivel,
        "critico": version.critico,
        "replaced_at": to_iso(version.replaced_at),
    }


def details_json(details: EpisodeDetails) -> GetMemoryResult:
    episode = details.view.episode
    return {
        "result": f"Recuerdo id={episode.id} ({episode.nivel}, {details.view.tier}): {excerpt(episode.content)}",
        "status": "ok",
        "id": episode.id,
        "tier": details.view.tier,
        "memory": _whole(details.view),
        "links": [link_json(link) for link in details.links],
        "versions": [_version_json(version) for version in details.versions],
        "warnings": [],
    }


def _hit_json(hit: EpisodeHit) -> MemoryJson:
    shown = memory_json(hit.view)
    shown["content"] = hit.content
    if hit.score is not None:
        shown["score"] = round(hit.score, 4)
        shown["scores"] = {
            "words": round(hit.words, 4),
            "meaning": None if hit.meaning is None else round(hit.meaning, 4),
            "recency": round(hit.recency, 4),
        }
    if hit.contradicts:
        shown["contradicts"] = list(hit.contradicts)
    return shown


def recalled_json(found: Recalled) -> SearchMemoriesResult:
    count = len(found.hits)
    if count:
        result = f"🔍 {found.total} {'recuerdo' if found.total == 1 else 'recuerdos'}; se muestran {count}."
    else:
        result = "🔍 Ningún recuerdo encontrado."
    return {
        "result": result,
        "status": "ok",
        "memories": [_hit_json(hit) for hit in found.hits],
        "count": count,
        "total": found.total,
        "has_more": found.has_more,
        "warnings": list(found.warnings),
    }


def compressed_json(found: Compressed) -> CompressResult:
    count = len(found.memories)
    return {
        "result": f"🗜️ {count} {'recuerdo' if count == 1 else 'recuerdos'} en {found.tokens} tokens.",
        "status": "ok",
        "context": found.context,
        "tokens": found.tokens,
        "memories": list(found.memories),
        "warnings": list(found.warnings),
    }


def excerpt(text: str, most: int = 100, cut: str = "...") -> str:
    """The beginning of a text on one line; `cut` stands where it was cut off."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most] + cut


def expiry_warnings(critico: bool, expires_at: Instant | None) -> list[str]:
    if critico and expires_at is not None:
        return ["Un recuerdo crítico no caduca: expires_at no tiene efecto mientras sea crítico."]
    return []
