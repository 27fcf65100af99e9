"""Saving memories and changing them one at a time (seed 002; contract, Hipocampo 1 and 2).

Nothing here waits for a model: a save is one insert, durable when it returns. What needs a vector follows in the
background (`services.enriching`), from a row that is written with the memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from evoca.domain.clock import Clock, Instant
from evoca.domain.episodes import (
    CONTRADICTS,
    DEFAULT_MEMORY_TYPE,
    EPISODICA,
    NIVELES,
    SIMILAR,
    Episode,
    EpisodeLink,
    EpisodeVersion,
    NewEpisode,
    Tier,
    fold_label,
    tidy_categories,
)
from evoca.domain.identity import near_identical, signature
from evoca.domain.text import nfc
from evoca.errors import InvalidInput, NotFound
from evoca.services.indexing import IndexingService
from evoca.storage.contract import Session, Store


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to save. `session_id`, `code`: empty for none."""

    content: str
    memory_type: str = DEFAULT_MEMORY_TYPE
    code: str = ""
    categories: tuple[str, ...] = ()
    session_id: str = ""
    nivel: str = EPISODICA
    critico: bool = False
    expires_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What an update sets; None leaves as it is. `never_expires` takes the end off."""

    content: str | None = None
    memory_type: str | None = None
    code: str | None = None
    categories: tuple[str, ...] | None = None
    session_id: str | None = None
    nivel: str | None = None
    critico: bool | None = None
    expires_at: Instant | None = None
    never_expires: bool = False


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """A memory as it is shown. `embedded`: whether it is found by meaning."""

    episode: Episode
    embedded: bool

    @property
    def tier(self) -> Tier:
        return self.episode.tier(self.embedded)


@dataclass(frozen=True, slots=True)
class Saved:
    view: EpisodeView


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Nothing was saved: `view` says it already. `unsaved`: fields in which what was refused went beyond it."""

    view: EpisodeView
    similarity: float
    unsaved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Updated:
    """`changed`: names of the fields; none when everything was so before."""

    view: EpisodeView
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    episode: Episode


@dataclass(frozen=True, slots=True)
class Protected:
    """A critical memory, and nobody said that it is meant."""

    episode: Episode


@dataclass(frozen=True, slots=True)
class EpisodeDetails:
    view: EpisodeView
    links: tuple[EpisodeLink, ...]
    versions: tuple[EpisodeVersion, ...]


class EpisodeService:
    """The memories of one store's collections; each call is one transaction."""

    def __init__(self, store: Store, clock: Clock, indexing: IndexingService) -> None:
        self._store = store
        self._clock = clock
        self._indexing = indexing

    def save(self, collection: int, draft: Draft, force: bool, auto_link: bool) -> Saved | Duplicate:
        """Save a memory, unless a near-identical one stands in its session scope and `force` is False.

        Looking and saving are one transaction: of two processes that save one text, one is refused.
        Raises InvalidInput for a blank content or an unknown level.
        """
        row = self._checked(draft)
        now = self._clock.now()

        def work(session: Session) -> Saved | Duplicate:
            if not force:
                found = _twin(session, collection, row.session_id, row.content, row.signature, now)
                if found is not None:
                    return self._duplicate(session, found, _unsaved(row, found[0]))
            number = session.episodes.insert(collection, row, now)
            session.enrichments.add(collection, number, auto_link)
            return Saved(EpisodeView(session.episodes.by_ids(collection, [number])[number], embedded=False))

        return self._store.write(work)

    def _duplicate(self, session: Session, found: tuple[Episode, float], unsaved: tuple[str, ...]) -> Duplicate:
        twin, similarity = found
        return Duplicate(views_of(session, self._indexing, [twin])[0], similarity, unsaved)

    def _checked(self, draft: Draft) -> NewEpisode:
        content = _content(draft.content)
        return NewEpisode(
            content=content,
            signature=signature(content),
            memory_type=nfc(draft.memory_type).strip() or DEFAULT_MEMORY_TYPE,
            code=nfc(draft.code).strip(),
            categories=tidy_categories(draft.categories),
            session_id=nfc(draft.session_id),
            nivel=level(draft.nivel),
            critico=draft.critico,
            expires_at=draft.expires_at,
        )

    def get(self, collection: int, number: int) -> EpisodeDetails:
        """A memory with its links and its history, also an archived or merged one. Raises NotFound."""

        def work(session: Session) -> EpisodeDetails:
            episode = find(session, collection, number)
            (view,) = views_of(session, self._indexing, [episode])
            return EpisodeDetails(
                view, tuple(session.episode_links.touching([number])), tuple(session.episodes.versions(number))
            )

        return self._store.read(work)

    def update(self, collection: int, number: int, changes: Changes, force: bool) -> Updated | Duplicate:
        """Change a memory; what it was is kept as a version, the indexes follow.

        Another text or session is looked at anew: for near-identical memories (refused then, unless `force`), and in
        the background for links and contradictions. Raises NotFound, InvalidInput.
        """
        now = self._clock.now()

        def work(session: Session) -> Updated | Duplicate:
            before = find(session, collection, number, alive=True)
            after = _changed(before, changes)
            changed = tuple(name for name in _FIELDS if getattr(before, name) != getattr(after, name))
            mark = signature(after.content)
            moved = "content" in changed or "session_id" in changed
            if moved and not force:
                found = _twin(session, collection, after.session_id, after.content, mark, now, besides=number)
                if found is not None:
                    return self._duplicate(session, found, ())
            if changed:
                session.episodes.update(collection, before, after, mark, now)
            if moved:
                _look_again(session, collection, number)
            fresh = session.episodes.by_ids(collection, [number])[number]
            return Updated(views_of(session, self._indexing, [fresh])[0], changed)

        return self._store.write(work)

    def delete(self, collection: int, number: int, force: bool) -> Deleted | Protected:
        """Remove a memory with its links, history and the copies merged into it; a critical one only by `force`.

        Raises NotFound.
        """

        def work(session: Session) -> Deleted | Protected:
            episode = find(session, collection, number, alive=True)
            if episode.critico and not force:
                return Protected(episode)
            older = [
                link.target_id
                for link in session.episode_links.touching([number], CONTRADICTS)
                if link.source_id == number
            ]
            session.episodes.delete([number])
            settle_superseded(session, collection, older)
            return Deleted(episode)

        return self._store.write(work)


_FIELDS = ("content", "memory_type", "code", "categories", "session_id", "nivel", "critico", "expires_at")


def _content(text: str) -> str:
    if not text.strip():
        raise InvalidInput("❌ El contenido no puede estar vacío.", field="content")
    return nfc(text)


def level(given: str) -> str:
    """The level that is meant; case and accents are forgiven. Raises InvalidInput with the contract's sentence."""
    meant = fold_label(given)
    if meant not in NIVELES:
        raise InvalidInput(f"❌ Nivel inválido: {given}. Usa: {', '.join(NIVELES)}.", field="nivel")
    return meant


def find(session: Session, collection: int, number: int, alive: bool = False) -> Episode:
    """A memory by its id. `alive`: not one that was merged away. Raises NotFound."""
    episode = session.episodes.by_ids(collection, [number]).get(number)
    if episode is None:
        raise NotFound(f"❌ No se encontró recuerdo con id={number}", "search_hipocampo muestra los ids.")
    if alive and episode.merged_into is not None:
        raise NotFound(
            f"❌ El recuerdo id={number} se fusionó en id={episode.merged_into}.",
            "Usa ese id, o deshaz la fusión con undo_hipocampo_dedup.",
        )
    return episode


def views_of(session: Session, indexing: IndexingService, episodes: Sequence[Episode]) -> list[EpisodeView]:
    """Memories with what the index knows of them."""
    embedded = session.documents.embedded([each.id for each in episodes], indexing.models(session))
    return [EpisodeView(each, each.id in embedded) for each in episodes]


def _twin(
    session: Session,
    collection: int,
    session_id: str,
    content: str,
    mark: bytes,
    now: Instant,
    besides: int | None = None,
) -> tuple[Episode, float] | None:
    """The memory of this scope that is most nearly identical, and how much so (contract, Hipocampo 1)."""
    best: tuple[Episode, float] | None = None
    for each in session.episodes.alike(collection, session_id, mark, now):
        similarity = 1.0 if each.content == content else near_identical(each.content, content)
        if each.id != besides and similarity is not None and (best is None or similarity > best[1]):
            best = each, similarity
    return best


def _unsaved(row: NewEpisode, twin: Episode) -> tuple[str, ...]:
    """What is lost with a refused memory. Defaults say nothing."""
    known = {fold_label(each) for each in twin.categories}
    lost = {
        "categories": any(fold_label(each) not in known for each in row.categories),
        "memory_type": row.memory_type not in (DEFAULT_MEMORY_TYPE, twin.memory_type),
        "code": row.code not in ("", twin.code),
        "nivel": row.nivel not in (EPISODICA, twin.nivel),
        "critico": row.critico and not twin.critico,
        "expires_at": row.expires_at not in (None, twin.expires_at),
    }
    return tuple(name for name, is_lost in lost.items() if is_lost)


def _changed(before: Episode, changes: Changes) -> Episode:
    return replace(
        before,
        content=before.content if changes.content is None else _content(changes.content),
        memory_type=nfc(changes.memory_type or "").strip() or before.memory_type,
        code=before.code if changes.code is None else nfc(changes.code).strip(),
        categories=before.categories if changes.categories is None else tidy_categories(changes.categories),
        session_id=before.session_id if changes.session_id is None else nfc(changes.session_id),
        nivel=before.nivel if changes.nivel is None else level(changes.nivel),
        critico=before.critico if changes.critico is None else changes.critico,
        expires_at=None if changes.never_expires else changes.expires_at or before.expires_at,
    )


# -- what was found out about a memory -----------------------------------------------------------------


def found_out(link: EpisodeLink) -> bool:
    """Whether a link was made in the background, and not by a client."""
    return link.details is not None and bool(cast(dict[str, object], json.loads(link.details)).get("auto"))


def supersedes(link: EpisodeLink) -> bool:
    """Whether a contradiction is sure enough to put the newer memory in the older one's place."""
    return link.details is not None and bool(cast(dict[str, object], json.loads(link.details)).get("supersedes"))


def settle_superseded(session: Session, collection: int, episodes: Iterable[int]) -> None:
    """Set `superseded_by` of these memories to the newest one that contradicts them, or to none.

    Critical ones never are superseded. Call it after links between memories have changed.
    """
    for number, episode in session.episodes.by_ids(collection, episodes).items():
        newer = [
            link.source_id
            for link in session.episode_links.touching([number], CONTRADICTS)
            if link.target_id == number and supersedes(link)
        ]
        by = max(newer) if newer and not episode.critico else None
        if by != episode.superseded_by:
            session.episodes.supersede(number, by)


def _look_again(session: Session, collection: int, number: int) -> None:
    """Forget what was found out about a memory's former text, and have it looked at anew."""
    stale = [link for link in session.episode_links.touching([number]) if found_out(link)]
    session.episode_links.delete([link.id for link in stale])
    session.episodes.mark_duplicate(number, None)
    settle_superseded(session, collection, [number, *(link.target_id for link in stale)])
    session.enrichments.add(collection, number, auto_link=any(link.relation_type == SIMILAR for link in stale))
