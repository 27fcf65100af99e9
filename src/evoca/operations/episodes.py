"""Memories as tools: saving, changing, finding (seed 002; contract, Hipocampo 1 to 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evoca.domain.clock import Instant, from_iso
from evoca.domain.episodes import DEFAULT_MEMORY_TYPE, EPISODICA, NIVELES
from evoca.errors import InvalidInput
from evoca.operations.base import AtMost, Hints, Id, Input, Limit, Offset, Operation, operation
from evoca.operations.episode_results import (
    CompressResult,
    GetMemoryResult,
    MemoryWriteResult,
    SearchMemoriesResult,
    compressed_json,
    details_json,
    excerpt,
    expiry_warnings,
    recalled_json,
)
from evoca.services.recalling import EpisodeQuery

if TYPE_CHECKING:
    from evoca.services import Services
    from evoca.services.episodes import Duplicate, EpisodeView

Label = Annotated[str, AtMost("type")]
Session = Annotated[str, AtMost("name")]
Time = Annotated[str, AtMost("type")]
Content = Annotated[str, AtMost("text")]
Categories = Annotated[list[Label], AtMost("items")]
Budget = Annotated[int, Field(ge=1, le=1_000_000)]
_LEVELS = ", ".join(NIVELES)


class SaveHipocampoInput(Input):
    content: Content = Field(description="What to remember.")
    memory_type: Label = Field(default=DEFAULT_MEMORY_TYPE, description="event, decision, profile, or your own.")
    code: Label = Field(default="", description="Short label to group by.")
    categories: Categories | None = None
    session_id: Session = Field(default="", description="Keeps memories of one session together, in order.")
    force: bool = Field(default=False, description="Save even if a near-identical one exists.")
    auto_link: bool = Field(default=False, description="Link it to similar memories (> 0.75) later.")
    nivel: Label = Field(default=EPISODICA, description=f"{_LEVELS}.")
    critico: bool = Field(default=False, description="Never forgotten nor archived.")
    expires_at: Time | None = Field(default=None, description="ISO 8601; archived then.")


class GetHipocampoInput(Input):
    id: Id


class UpdateHipocampoInput(Input):
    id: Id
    content: Content | None = None
    memory_type: Label | None = None
    code: Label | None = None
    categories: Categories | None = Field(default=None, description="Replaces all of them.")
    session_id: Session | None = None
    nivel: Label | None = None
    critico: bool | None = None
    expires_at: Time | None = Field(default=None, description='ISO 8601; "" for never.')
    force: bool = Field(default=False, description="Even if a near-identical one exists.")


class DeleteHipocampoInput(Input):
    id: Id
    force: bool = Field(default=False, description="Needed for a critical one.")


class SetNivelHipocampoInput(Input):
    id: Id
    nivel: Label = Field(description=f"{_LEVELS}.")


class SearchHipocampoInput(Input):
    query: Annotated[str, AtMost("query")] = Field(default="", description="Blank: the newest first.")
    session_id: Session | None = Field(default=None, description='Omitted: all; "": those without one.')
    memory_type: Label | None = None
    code: Label | None = None
    categories: Categories | None = None
    categories_mode: Literal["any", "all"] = "any"
    nivel: Label | None = None
    critico: bool | None = None
    since: Time | None = Field(default=None, description="Created then or later, ISO 8601.")
    until: Time | None = Field(default=None, description="Created then or earlier.")
    include_archived: bool = Field(default=False, description="Superseded and archived ones too.")
    limit: Limit = 10
    offset: Offset = 0
    budget_tokens: Budget | None = Field(default=None, description="No more content than that (4 characters each).")


class CompressHipocampoInput(Input):
    query: Annotated[str, AtMost("query")]
    budget_tokens: Budget = 1000
    session_id: Session | None = None
    memory_type: Label | None = None
    code: Label | None = None
    categories: Categories | None = None
    categories_mode: Literal["any", "all"] = "any"
    nivel: Label | None = None
    critico: bool | None = None
    since: Time | None = None
    until: Time | None = None
    include_archived: bool = False


def _instant(text: str | None, field: str) -> Instant | None:
    if not text:
        return None
    try:
        return from_iso(text)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"❌ {field}: {text!r} no es una fecha ISO 8601, como 2026-04-14T22:47:23Z.", field=field
        ) from None


def _written(status: str, result: str, view: EpisodeView) -> MemoryWriteResult:
    episode = view.episode
    warnings = expiry_warnings(episode.critico, episode.expires_at)
    return {"result": result, "status": status, "id": episode.id, "tier": view.tier, "warnings": warnings}


def _refused(found: Duplicate) -> MemoryWriteResult:
    """A near-identical memory exists. Says what would have been new, so that it is not lost unseen."""
    twin = found.view.episode
    result = (
        f"⚠️ Ya existe un recuerdo casi idéntico (id={twin.id}, similitud_trgm={found.similarity:.2f}). "
        f"Contenido existente: {excerpt(twin.content, cut='')}... Usa update_hipocampo(id={twin.id}) o pasa force=True."
    )
    reply: MemoryWriteResult = {
        "result": result,
        "status": "duplicate",
        "id": twin.id,
        "tier": found.view.tier,
        "duplicate_of": twin.id,
        "similarity": round(found.similarity, 4),
        "warnings": [f"En la misma sesión ({twin.session_id or 'sin sesión'}); no se guardó nada."],
    }
    if found.unsaved:
        lost = ", ".join(found.unsaved)
        reply["not_saved"] = list(found.unsaved)
        reply["warnings"].append(f"No se guardó lo nuevo en: {lost}. Ponlo con update_hipocampo(id={twin.id}).")
    return reply


def _save(services: Services, given: SaveHipocampoInput) -> MemoryWriteResult:
    from evoca.services.episodes import Draft, Duplicate

    draft = Draft(
        content=given.content,
        memory_type=given.memory_type,
        code=given.code,
        categories=tuple(given.categories or ()),
        session_id=given.session_id,
        nivel=given.nivel,
        critico=given.critico,
        expires_at=_instant(given.expires_at, "expires_at"),
    )
    outcome = services.episodes.save(services.collection, draft, given.force, given.auto_link)
    if isinstance(outcome, Duplicate):
        return _refused(outcome)
    number = outcome.view.episode.id
    result = (
        f"✅ Guardado en Hipocampo (id={number}).\n"
        "Ya se encuentra por sus palabras; su significado, enlaces y contradicciones se procesan en segundo plano."
    )
    return _written("saved", result, outcome.view)


def _get(services: Services, given: GetHipocampoInput) -> GetMemoryResult:
    details = services.episodes.get(services.collection, given.id)
    if services.track:
        services.tracking.recalled([given.id])
    return details_json(details)


def _update(services: Services, given: UpdateHipocampoInput) -> MemoryWriteResult:
    from evoca.services.episodes import Changes, Duplicate

    changes = Changes(
        content=given.content,
        memory_type=given.memory_type,
        code=given.code,
        categories=None if given.categories is None else tuple(given.categories),
        session_id=given.session_id,
        nivel=given.nivel,
        critico=given.critico,
        expires_at=_instant(given.expires_at, "expires_at"),
        never_expires=given.expires_at == "",
    )
    if changes == Changes():
        raise InvalidInput("❌ Nada que cambiar: da al menos un campo además de id.", field="content")
    outcome = services.episodes.update(services.collection, given.id, changes, given.force)
    if isinstance(outcome, Duplicate):
        return _refused(outcome)
    result = f"✅ Actualizado recuerdo id={given.id}"
    if not outcome.changed:
        result = f"✅ El recuerdo id={given.id} ya estaba así."
    return {**_written("updated", result, outcome.view), "changed": list(outcome.changed)}


def _delete(services: Services, given: DeleteHipocampoInput) -> MemoryWriteResult:
    from evoca.services.episodes import Protected

    outcome = services.episodes.delete(services.collection, given.id, given.force)
    if isinstance(outcome, Protected):
        result = f"⚠️ El recuerdo id={given.id} es crítico: no se eliminó. Pasa force=True para eliminarlo."
        return {"result": result, "status": "protected", "id": given.id, "warnings": []}
    return {"result": f"🗑️ Eliminado recuerdo id={given.id}", "status": "deleted", "id": given.id, "warnings": []}


def _set_nivel(services: Services, given: SetNivelHipocampoInput) -> MemoryWriteResult:
    from evoca.services.episodes import Changes, Updated, level

    nivel = level(given.nivel)
    outcome = services.episodes.update(services.collection, given.id, Changes(nivel=nivel), force=True)
    assert isinstance(outcome, Updated)  # noqa: S101 -- only another text or session can be refused
    result = f"✅ Recuerdo #{given.id} promovido a nivel '{nivel}'."
    if not outcome.changed:
        result = f"✅ El recuerdo #{given.id} ya era de nivel '{nivel}'."
    return _written("updated", result, outcome.view)


def _query(given: SearchHipocampoInput | CompressHipocampoInput, track: bool) -> EpisodeQuery:
    return EpisodeQuery(
        text=given.query,
        session_id=given.session_id,
        memory_type=given.memory_type,
        code=given.code,
        categories=tuple(given.categories or ()),
        every_category=given.categories_mode == "all",
        nivel=given.nivel,
        critico=given.critico,
        since=_instant(given.since, "since"),
        until=_instant(given.until, "until"),
        past=given.include_archived,
        limit=given.limit if isinstance(given, SearchHipocampoInput) else 10,
        offset=given.offset if isinstance(given, SearchHipocampoInput) else 0,
        budget_tokens=given.budget_tokens if isinstance(given, SearchHipocampoInput) else None,
        track=track,
    )


def _search(services: Services, given: SearchHipocampoInput) -> SearchMemoriesResult:
    return recalled_json(services.recall.search(services.collection, _query(given, services.track)))


def _compress(services: Services, given: CompressHipocampoInput) -> CompressResult:
    query = _query(given, services.track)
    return compressed_json(services.recall.compress(services.collection, query, given.budget_tokens))


_WRITES = Hints(read_only=False, destructive=False, idempotent=False)
_READS = Hints(read_only=True, destructive=False, idempotent=True)

EPISODE_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _save,
        input=SaveHipocampoInput,
        result=MemoryWriteResult,
        name="save_hipocampo",
        title="Save a Memory",
        doc=(
            "Save a free-text memory, at once: found by its words now, by meaning, links and contradictions soon "
            "(background). A near-identical one in the same session scope is refused unless force; to change one use "
            "update_hipocampo."
        ),
        toolset="hipocampo",
        hints=_WRITES,
    ),
    operation(
        _search,
        input=SearchHipocampoInput,
        result=SearchMemoriesResult,
        name="search_hipocampo",
        title="Search Memories",
        doc=(
            "Find memories by words and meaning together; filters narrow it. Superseded and archived ones are left "
            "out unless asked. Use it before answering from memory. For a packed text use compress_hipocampo."
        ),
        toolset="hipocampo",
        hints=_READS,
    ),
    operation(
        _get,
        input=GetHipocampoInput,
        result=GetMemoryResult,
        name="get_hipocampo",
        title="Get a Memory",
        doc="One memory by its id: all its fields, its links, and what it was before its updates; archived ones too.",
        toolset="hipocampo",
        hints=_READS,
    ),
    operation(
        _update,
        input=UpdateHipocampoInput,
        result=MemoryWriteResult,
        name="update_hipocampo",
        title="Update a Memory",
        doc="Change any field of a memory; what it was is kept as history, search follows at once.",
        toolset="hipocampo",
        hints=Hints(read_only=False, destructive=False, idempotent=True),
    ),
    operation(
        _delete,
        input=DeleteHipocampoInput,
        result=MemoryWriteResult,
        name="delete_hipocampo",
        title="Delete a Memory",
        doc="Remove a memory for good, with its links and history. A critical one needs force.",
        toolset="hipocampo",
        hints=Hints(read_only=False, destructive=True, idempotent=True),
    ),
    operation(
        _set_nivel,
        input=SetNivelHipocampoInput,
        result=MemoryWriteResult,
        name="set_nivel_hipocampo",
        title="Set a Memory's Level",
        doc=(
            "Set the level: episodica (full detail, may be forgotten), semantica (consolidated, kept), automatica "
            "(a standing rule)."
        ),
        toolset="hipocampo",
        hints=Hints(read_only=False, destructive=False, idempotent=True),
    ),
    operation(
        _compress,
        input=CompressHipocampoInput,
        result=CompressResult,
        name="compress_hipocampo",
        title="Pack Memories into a Budget",
        doc=(
            "The evidence for a query as one text of at most budget_tokens: extracts of the best memories, in order "
            "of time, with their ids. Filters as in search_hipocampo."
        ),
        toolset="hipocampo",
        hints=_READS,
    ),
)
