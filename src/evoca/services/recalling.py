"""Finding memories: by words and meaning, in the light of session, date and age (contract, Hipocampo 3)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evoca.domain.clock import Clock, Instant, to_iso
from evoca.domain.episodes import CONTRADICTS, Episode, fold_label
from evoca.domain.text import analyse, nfc
from evoca.errors import ModelUnavailable
from evoca.services.episodes import EpisodeView, found_out, level, views_of
from evoca.services.indexing import IndexingService
from evoca.services.serving import Serving
from evoca.services.tracking import TrackingService
from evoca.services.traits import Traits
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.retrieval.ranking import EntityCandidate, Ranking, Retriever
    from evoca.retrieval.traits import TraitFilter, TraitView

AGE = 0.05
"""Power of `recency` in the score: an old episode loses at most 8 %. Measured on dialogues of half a year, recall@10:
.78 without age, .78 with this power, .76 with .1, .72 with .2, .17 with all of it: what is new is seldom what is asked.
"""
REPEATED = 0.5
"""What a memory counts that says the same in the same words as a better one."""
_SETTLED = 100
"""So many of the best memories are put in order where they contradict each other."""
_PACKED = 40
"""So many of the best memories are looked at for evidence."""
WITHOUT_MODEL = "Sin modelo de embeddings: solo se buscó por palabras."


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """Filters that are None let everything through. A blank `text` lists the newest first.

    `every_category`: all of `categories` must be there, not just one. `past`: superseded and archived ones too.
    `budget_tokens`: no more content than that is shown. `track`: count as use of what is shown.
    """

    text: str
    session_id: str | None = None
    memory_type: str | None = None
    code: str | None = None
    categories: tuple[str, ...] = ()
    every_category: bool = False
    nivel: str | None = None
    critico: bool | None = None
    since: Instant | None = None
    until: Instant | None = None
    past: bool = False
    limit: int = 10
    offset: int = 0
    budget_tokens: int | None = None
    track: bool = True


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """`score` in [0, 1]; None in a list by time. `words`: BM25 in nats. `meaning`: calibrated similarity, None without
    a vector. `contradicts`: memories that say otherwise. `shortened`: `content` was cut to fit the budget.
    """

    view: EpisodeView
    content: str
    score: float | None
    words: float
    meaning: float | None
    recency: float
    contradicts: tuple[int, ...] = ()
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class Recalled:
    """`total`: how many fit the filters and the query (of a query at most `ranking.MOST` are ranked)."""

    hits: tuple[EpisodeHit, ...]
    total: int
    has_more: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compressed:
    """`context`: evidence in order of time. `memories`: the ids behind it, in that order."""

    context: str
    tokens: int
    memories: tuple[int, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Scored:
    id: int
    score: float | None
    candidate: EntityCandidate | None
    recency: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with its vector (None: by words alone) and what can rank by it."""

    retriever: Retriever
    vector: NDArray[np.float32] | None
    warnings: tuple[str, ...]


class RecallService:
    """Search over one store's memories."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        serving: Serving,
        indexing: IndexingService,
        tracking: TrackingService,
        traits: Traits,
        catch_up: float,
    ) -> None:
        """`catch_up`: how many seconds a search waits for memories that have no vector yet."""
        self._store = store
        self._clock = clock
        self._serving = serving
        self._indexing = indexing
        self._tracking = tracking
        self._catch_up = catch_up
        self._lock = threading.Lock()
        self._traits = traits
        self._wordy: Retriever | None = None

    def search(self, collection: int, query: EpisodeQuery) -> Recalled:
        """The memories that fit best, ties by id; of a blank query the newest first. Raises InvalidInput."""
        query = _tidied(query)
        asked = self._ask(collection, query) if query.text else None
        now = self._clock.now()

        def work(session: Session) -> Recalled:
            if asked is None:
                page, total = self._newest(session, collection, query, now)
            else:
                scored = self._scored(session, collection, query, asked, now)
                page, total = scored[query.offset : query.offset + query.limit], len(scored)
            hits = self._hits(session, collection, page)
            shown, shortened = _within_budget(hits, query)
            more = query.offset + len(shown) < total
            return Recalled(tuple(shown), total, more, (() if asked is None else asked.warnings) + shortened)

        found = self._store.read(work)
        if query.track:
            self._tracking.recalled([hit.view.episode.id for hit in found.hits])
        return found

    def compress(self, collection: int, query: EpisodeQuery, budget: int) -> Compressed:
        """The evidence for a query, packed into `budget` tokens: extracts, in order of time. Raises InvalidInput."""
        found = self.search(collection, replace(query, limit=_PACKED, offset=0, budget_tokens=None))
        from evoca.retrieval.packing import Piece, pack, tokens

        pieces = [Piece(_head(hit.view.episode), hit.content) for hit in found.hits]
        packed = pack(query.text, pieces, budget)
        packed.sort(key=lambda line: found.hits[line[0]].view.episode.id)
        context = "\n".join(line for _, line in packed)
        return Compressed(
            context,
            tokens(context),
            tuple(found.hits[place].view.episode.id for place, _ in packed),
            found.warnings,
        )

    # -- ranking ---------------------------------------------------------------------------------

    def _ask(self, collection: int, query: EpisodeQuery) -> _Asked:
        try:
            self._indexing.catch_up(collection, self._catch_up)
            return _Asked(*self._serving.choose(query.text), ())
        except ModelUnavailable:
            with self._lock:
                if self._wordy is None:
                    from evoca.retrieval.ranking import Retriever

                    self._wordy = Retriever(None)
                return _Asked(self._wordy, None, (WITHOUT_MODEL,))

    def _scored(
        self, session: Session, collection: int, query: EpisodeQuery, asked: _Asked, now: Instant
    ) -> list[_Scored]:
        """The best first."""
        traits = self._traits.view(session, collection)
        allowed = traits.allowed(_filter(query, now))
        from evoca.retrieval.sessions import Arrangement, asked_dates

        dates = asked_dates(query.text, analyse(query.text).language)
        ranking = asked.retriever.episodes(
            session, collection, query.text, asked.vector, Arrangement(traits, allowed, dates)
        )
        order = _ordered(traits, ranking, now)
        _newest_first(session, order)
        return order

    def _newest(
        self, session: Session, collection: int, query: EpisodeQuery, now: Instant
    ) -> tuple[list[_Scored], int]:
        """A page of the list by time, and how many are in it."""
        traits = self._traits.view(session, collection)
        ids = traits.ids[traits.allowed(_filter(query, now))][::-1]
        page = ids[query.offset : query.offset + query.limit].tolist()
        return [_Scored(number, None, None, 1.0) for number in page], len(ids)

    def _hits(self, session: Session, collection: int, page: Sequence[_Scored]) -> list[EpisodeHit]:
        ids = [each.id for each in page]
        found = session.episodes.by_ids(collection, ids)
        views = views_of(session, self._indexing, [found[number] for number in ids if number in found])
        by_id = {view.episode.id: view for view in views}
        contradicted = _contradictions(session, ids)
        return [
            EpisodeHit(
                by_id[each.id],
                by_id[each.id].episode.content,
                each.score,
                0.0 if each.candidate is None else each.candidate.words,
                None if each.candidate is None or each.candidate.distance is None else 1.0 - each.candidate.distance,
                each.recency,
                tuple(sorted(contradicted.get(each.id, ()))),
            )
            for each in page
            if each.id in by_id
        ]


def _tidied(query: EpisodeQuery) -> EpisodeQuery:
    return replace(
        query,
        text=nfc(query.text).strip(),
        session_id=None if query.session_id is None else nfc(query.session_id),
        nivel=None if query.nivel is None else level(query.nivel),
    )


def _filter(query: EpisodeQuery, now: Instant) -> TraitFilter:
    from evoca.retrieval.traits import TraitFilter

    return TraitFilter(
        now=now,
        session_id=query.session_id,
        memory_type=None if query.memory_type is None else fold_label(query.memory_type),
        code=None if query.code is None else fold_label(query.code),
        nivel=query.nivel,
        critico=query.critico,
        since=query.since,
        until=query.until,
        past=query.past,
        categories=tuple(label for label in map(fold_label, query.categories) if label),
        every_category=query.every_category,
    )


def _ordered(traits: TraitView, ranking: Ranking, now: Instant) -> list[_Scored]:
    """Relevance tempered by age; what says the same in the same words as something better is lowered."""
    import numpy as np

    found = [each for each in ranking.candidates if each.relevance > 0]
    ids = np.array([each.entity_id for each in found], np.int64)
    rows = traits.rows_of(ids)
    fresh = traits.recency(rows, now)
    scores = np.array([each.relevance for each in found], np.float64) * fresh**AGE
    order = np.lexsort((ids, -scores))
    first = np.zeros(len(order), np.bool_)
    first[np.unique(traits.likeness[rows[order]], return_index=True)[1]] = True
    scores[order[~first]] *= REPEATED
    order = np.lexsort((ids, -scores))
    places: list[int] = order.tolist()
    return [
        _Scored(found[at].entity_id, score, found[at], age)
        for at, score, age in zip(places, scores[order].tolist(), fresh[order].tolist(), strict=True)
    ]


def _newest_first(session: Session, scored: list[_Scored]) -> None:
    """Of memories that contradict each other the newer one takes the better place and its score; among the best."""
    at = {each.id: place for place, each in enumerate(scored[:_SETTLED])}
    for link in session.episode_links.touching(at, CONTRADICTS):
        ends = (link.source_id, link.target_id)
        # What was found out says which is newer; of what a client says the ids tell.
        newer, older = ends if found_out(link) else (max(ends), min(ends))
        if newer in at and older in at and at[older] < at[newer]:
            first, second = at[older], at[newer]
            low, high = scored[second].score, scored[first].score
            scored[first], scored[second] = (
                replace(scored[second], score=high),
                replace(scored[first], score=low),
            )
            at[newer], at[older] = first, second


def _contradictions(session: Session, ids: Sequence[int]) -> dict[int, set[int]]:
    """id → the memories that say otherwise."""
    found: dict[int, set[int]] = {}
    for link in session.episode_links.touching(ids, CONTRADICTS):
        found.setdefault(link.source_id, set()).add(link.target_id)
        found.setdefault(link.target_id, set()).add(link.source_id)
    return found


# -- room ----------------------------------------------------------------------------------------------


def _within_budget(hits: list[EpisodeHit], query: EpisodeQuery) -> tuple[list[EpisodeHit], tuple[str, ...]]:
    """The first hits whose contents fit into the budget. One at least: it is shortened if it must be."""
    if query.budget_tokens is None or not hits:
        return hits, ()
    from evoca.retrieval.packing import CHARACTERS_PER_TOKEN, extract, tokens

    left = query.budget_tokens
    shown: list[EpisodeHit] = []
    for hit in hits:
        cost = tokens(hit.content)
        if cost > left:
            break
        shown.append(hit)
        left -= cost
    if shown:
        return shown, ()
    short = extract(query.text, hits[0].content, query.budget_tokens * CHARACTERS_PER_TOKEN)
    first = replace(hits[0], content=short, shortened=True)
    return [first], (f"El recuerdo id={first.view.episode.id} se acortó para caber en budget_tokens.",)


def _head(episode: Episode) -> str:
    """What stands before a memory in a packed context: `[12 · 2026-04-14] `."""
    return f"[{episode.id} · {to_iso(episode.created_at)[:10]}] "
