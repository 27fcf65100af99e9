"""Recalling facts: about an entity, on a topic, or by filters (seed 004; contract, Facts 4).

The answer is a page of one list, which the query and the filters determine: the direct hits first, then, hop by hop,
the facts of their neighbours. A sorted list has neither ranking nor neighbours.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evoca.domain.clock import Clock, Instant
from evoca.domain.facts import Scalar
from evoca.domain.graph import Edge, split_name
from evoca.domain.text import fold_case, nfc
from evoca.errors import InvalidInput, ModelUnavailable
from evoca.services.cursors import list_mark, read_cursor, write_cursor
from evoca.services.entity_names import SUGGESTIONS, SimilarNames, find_entity
from evoca.services.indexing import IndexingService
from evoca.services.serving import Serving
from evoca.services.walking import NOW, EdgeTables, FactHit, When, spelled, suggested
from evoca.storage.contract import Session, Store
from evoca.storage.fact_contract import After, FactFilter, Sorting, SortKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.retrieval.edge_table import EdgeView, Walk
    from evoca.retrieval.ranking import Retriever

    Ids = NDArray[np.int64]

SIMILAR = 10
"""So many entities are taken for a name that none has, if similar ones will do."""
WITHOUT_MODEL = "No embedding model: facts were sought by words only."


@dataclass(frozen=True, slots=True)
class FactQuery:
    """`text`: an entity or a topic, "" for neither. `predicates`: any of them, in any case; none for any.

    `related_to`: only facts at most `depth` steps from this entity. `depth`: how far neighbours' facts are taken from,
    0 for none. `fuzzy`: entities with similar names will do. `sorting`: a plain sorted page; `cursor` goes on with one.
    """

    text: str = ""
    predicates: tuple[str, ...] = ()
    entity_type: str | None = None
    related_to: str | None = None
    depth: int = 2
    fuzzy: bool = False
    limit: int = 20
    offset: int = 0
    sorting: Sorting | None = None
    when: When = NOW
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class RecalledFacts:
    """`total`: the whole list's length. `suggestions`: names that may have been meant, where nothing was found."""

    hits: tuple[FactHit, ...]
    total: int
    has_more: bool
    at: Instant
    suggestions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class _Topic:
    """A query with its vector (None: by words alone) and what ranks by it."""

    retriever: Retriever
    vector: NDArray[np.float32] | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Listing:
    """Direct hits in order, with their scores if they have any, and the facts around them with their hops."""

    direct: Ids
    around: Ids
    hops: Ids
    scores: Mapping[int, float] | None = None


class FactRecallService:
    """Search in one store's facts. Relations are facts too."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        serving: Serving,
        indexing: IndexingService,
        edges: EdgeTables,
        names: SimilarNames,
        catch_up: float,
    ) -> None:
        """`catch_up`: how many seconds a search on a topic waits for facts that have no vector yet."""
        self._store = store
        self._clock = clock
        self._serving = serving
        self._indexing = indexing
        self._edges = edges
        self._names = names
        self._catch_up = catch_up
        self._lock = threading.Lock()
        self._wordy: Retriever | None = None

    def recall(self, collection: int, query: FactQuery) -> RecalledFacts:
        """A page of the facts that are meant. Raises InvalidInput for a cursor that does not fit."""
        now = self._clock.now()
        mark = "" if query.sorting is None else _mark(collection, query, query.sorting)
        after = None if query.cursor is None else _place(query, mark)
        topic: _Topic | None = None

        def work(session: Session) -> RecalledFacts | None:
            recall = _Recall(session, collection, query, now, self._edges, self._names)
            if query.sorting is not None:
                return recall.sorted(query.sorting, mark, after, self._by_words)
            return recall.by_names() if topic is None else recall.by_topic(topic)

        found = self._store.read(work)
        if found is None:
            # Neither an entity nor a filter: only now the text is worth a vector.
            topic = self._topic(collection, query.text)
            found = self._store.read(work)
        assert found is not None  # noqa: S101 - with a topic there is an answer
        return found if topic is None else replace(found, warnings=topic.warnings)

    def _topic(self, collection: int, text: str) -> _Topic:
        try:
            self._indexing.catch_up(collection, self._catch_up, facts=True)
            return _Topic(*self._serving.choose(text))
        except ModelUnavailable:
            return _Topic(self._by_words(), None, (WITHOUT_MODEL,))

    def _by_words(self) -> Retriever:
        with self._lock:
            if self._wordy is None:
                from evoca.retrieval.ranking import Retriever

                self._wordy = Retriever(None)
            return self._wordy


class _Recall:
    """One recall in one session."""

    def __init__(
        self,
        session: Session,
        collection: int,
        query: FactQuery,
        now: Instant,
        edges: EdgeTables,
        names: SimilarNames,
    ) -> None:
        self._session = session
        self._collection = collection
        self._query = query
        self._predicates = spelled(session, collection, query.predicates)
        self._now = now
        self._at = query.when.at(now)
        self._edges = edges
        self._names = names

    # -- sorted, or by filters alone -----------------------------------------------------------------

    def sorted(
        self, sorting: Sorting, mark: str, after: After | None, by_words: Callable[[], Retriever]
    ) -> RecalledFacts:
        """A plain page. On a topic it holds the facts that have all its words."""
        query = self._query
        starts = self._starts(query.text) if query.text else None
        around = self._related()
        if starts == [] or around == []:
            return self._nothing()
        among: list[int] | None = None
        if query.text and starts is None:
            among = by_words().facts_holding(self._session, self._collection, query.text).tolist()
        wanted = self._filter(touching=starts, also_touching=around, among=among)
        total = self._session.facts.count(wanted)
        if not total:
            return self._nothing()
        facts = self._session.facts.page(wanted, sorting, query.limit + 1, query.offset, after)
        page, more = facts[: query.limit], len(facts) > query.limit
        cursor = write_cursor(mark, After(_sort_key(page[-1], sorting.by), page[-1].id)) if more else None
        return RecalledFacts(tuple(map(FactHit, page)), total, more, self._now, next_cursor=cursor)

    def _by_filters(self) -> RecalledFacts:
        query, wanted = self._query, self._filter()
        total = self._session.facts.count(wanted)
        page = self._session.facts.page(wanted, Sorting(), query.limit, query.offset)
        return RecalledFacts(tuple(map(FactHit, page)), total, query.offset + len(page) < total, self._now)

    def _filter(
        self,
        touching: list[int] | None = None,
        also_touching: list[int] | None = None,
        among: list[int] | None = None,
    ) -> FactFilter:
        query = self._query
        return FactFilter(
            self._collection,
            predicates=sorted(self._predicates) or None,
            at=self._at,
            touching=touching,
            also_touching=also_touching,
            entity_type=None if query.entity_type is None else fold_case(query.entity_type),
            among=among,
        )

    # -- by entities and topics ----------------------------------------------------------------------

    def by_names(self) -> RecalledFacts | None:
        """What entities and filters say; None when the text is a topic."""
        query = self._query
        if not query.text and query.related_to is None:
            return self._by_filters()
        starts = self._starts(query.text) if query.text else None
        if query.text and starts is None:
            return None
        around = self._related()
        if starts == [] or around == []:
            return self._nothing()
        view = self._edges.view(self._session, self._collection)
        if starts is None:
            return self._page(self._kept(view, self._spread(view, around or []), None))
        return self._page(self._kept(view, self._spread(view, starts), around))

    def by_topic(self, topic: _Topic) -> RecalledFacts:
        """What fits the text in words and meaning, and the facts around it."""
        import numpy as np

        query, around = self._query, self._related()
        if around == []:
            return self._nothing()
        view = self._edges.view(self._session, self._collection)
        ids = view.ids(at=self._at, include_ended=query.when.include_ended)
        allowed = ids[self._usable(view, ids, around)]
        ranking = topic.retriever.facts(self._session, self._collection, query.text, topic.vector, allowed)
        scores = {each.entity_id: each.relevance for each in ranking.candidates if each.relevance > 0}
        direct, none = np.array(list(scores), np.int64), np.empty(0, np.int64)
        if not scores or not query.depth:
            return self._page(_Listing(direct, none, none, scores))
        walk = self._walk(view, view.ends(direct).tolist(), query.depth)
        fresh = ~np.isin(walk.edges, direct)
        edges, hops = walk.edges[fresh], walk.hops[fresh]
        usable = self._usable(view, edges, around)
        return self._page(_Listing(direct, edges[usable], hops[usable], scores))

    def _spread(self, view: EdgeView, starts: Sequence[int]) -> _Listing:
        """The facts at the entities, those of the first one first, and the facts around them."""
        import numpy as np

        walk = self._walk(view, starts, self._query.depth + 1)
        near = int(np.searchsorted(walk.hops, 2))
        direct = walk.edges[:near]
        if len(starts) > 1:
            places = np.full(len(direct), len(starts))
            for place in reversed(range(len(starts))):
                places[np.isin(direct, view.touching([starts[place]]))] = place
            direct = direct[np.lexsort((direct, places))]
        return _Listing(direct, walk.edges[near:], walk.hops[near:] - 1)

    def _kept(self, view: EdgeView, listing: _Listing, around: Sequence[int] | None) -> _Listing:
        """What of a listing the filters let through."""
        if not self._query.predicates and self._query.entity_type is None and around is None:
            return listing
        direct = self._usable(view, listing.direct, around)
        others = self._usable(view, listing.around, around)
        return _Listing(listing.direct[direct], listing.around[others], listing.hops[others])

    def _usable(self, view: EdgeView, ids: Ids, around: Sequence[int] | None) -> NDArray[np.bool_]:
        """Which of these facts the filters let through; `around`: only facts near these entities."""
        import numpy as np

        query = self._query
        usable = np.ones(len(ids), np.bool_)
        if self._predicates:
            usable &= view.having(ids, self._predicates)
        if query.entity_type is not None:
            typed = self._session.entities.matching(self._collection, [fold_case(query.entity_type)], None)
            usable &= view.touched(ids, np.fromiter(typed, np.int64, len(typed)))
        if around is not None:
            usable &= np.isin(ids, self._walk(view, around, query.depth + 1).edges)
        return usable

    def _walk(self, view: EdgeView, starts: Sequence[int], depth: int) -> Walk:
        return view.walk(starts, depth, at=self._at, include_ended=self._query.when.include_ended, reached=False)

    def _page(self, listing: _Listing) -> RecalledFacts:
        query, first = self._query, len(listing.direct)
        total = first + len(listing.around)
        if not total:
            return self._nothing()
        begin, end = query.offset, query.offset + query.limit
        direct: list[int] = listing.direct[begin:end].tolist()
        begin, end = max(begin - first, 0), max(end - first, 0)
        around: list[int] = listing.around[begin:end].tolist()
        hops: list[int] = listing.hops[begin:end].tolist()
        facts = self._session.facts.by_ids([*direct, *around])
        scores = listing.scores or {}
        hits = [FactHit(facts[number], score=scores.get(number)) for number in direct if number in facts]
        hits += [FactHit(facts[number], hop=hop) for number, hop in zip(around, hops, strict=True) if number in facts]
        more = query.offset + len(direct) + len(around) < total
        return RecalledFacts(tuple(hits), total, more, self._now)

    def _nothing(self) -> RecalledFacts:
        return RecalledFacts((), 0, has_more=False, at=self._now, suggestions=self._suggestions())

    # -- names ---------------------------------------------------------------------------------------

    def _related(self) -> list[int] | None:
        """The entities that `related_to` means; None when it was not given."""
        name = self._query.related_to
        return None if name is None else self._starts(name) or []

    def _starts(self, text: str) -> list[int] | None:
        """The entities that a text means, the best first; empty for a `type:id` that names none, None for a topic."""
        entity = find_entity(self._session, self._collection, text)
        if entity is not None:
            return [entity.id]
        similar = self._names.find(self._session, self._collection, text, SIMILAR) if self._query.fuzzy else []
        if similar:
            return [each.id for each in similar]
        return [] if split_name(fold_case(text))[0] else None

    def _suggestions(self) -> tuple[str, ...]:
        """Names that may have been meant by those that mean nothing."""
        found: dict[str, None] = {}
        for name in (self._query.text, self._query.related_to or ""):
            if name and find_entity(self._session, self._collection, name) is None:
                found |= dict.fromkeys(suggested(self._session, self._collection, self._names, name))
        return tuple(found)[:SUGGESTIONS]


def _mark(collection: int, query: FactQuery, sorting: Sorting) -> str:
    """What a cursor is bound to."""
    when = query.when
    return list_mark(
        [collection, nfc(query.text), sorted(query.predicates), query.entity_type, query.related_to, query.fuzzy],
        [when.as_of, when.include_ended, sorting.by, sorting.descending],
    )


def _place(query: FactQuery, mark: str) -> After:
    if query.sorting is None:
        raise InvalidInput("cursor: goes with sort_by", "Ranked lists are paged by offset.", "cursor")
    if query.offset:
        raise InvalidInput("offset: does not go with cursor", "Give one of the two.", "offset")
    return read_cursor(query.cursor or "", mark)


def _sort_key(fact: Edge, by: SortKey) -> str | float | int | None:
    """What the list is sorted by."""
    match by:
        case "created_at":
            return fact.created_at
        case "predicate":
            return fact.predicate
        case "subject":
            return fact.subject
        case "object":
            return fact.object if fact.object is not None else literal_text(fact.value)
        case "confidence":
            return fact.confidence
        case "id":
            return fact.id


def literal_text(value: Scalar | None) -> str | None:
    """A literal as it is stored and sorted: a text as it is, else its JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)
