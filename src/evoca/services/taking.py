"""Putting an export's rows into a collection that may hold some of them.

What is the same: entities by name, former ones too; observations by entity and text; edges by their triple and the
begin of their period; reflections and memories by their text, place and time; links by their ends and type. What is
there stays as it is. A row that is there is taken for one of the file's only, so that repetitions are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from evoca.domain.episodes import EpisodeLink, Merge
from evoca.domain.graph import CoOccurrence, Edge, Observation
from evoca.domain.reflections import Reflection
from evoca.services.portable import KINDS, Envelope, Row, renumbered
from evoca.storage.contract import Session
from evoca.storage.transfer_contract import FormerName, WholeEntity, WholeEpisode

_PAGE = 1_000
T = TypeVar("T")
_ReflectionKey = tuple[str, int | None, str | None, str, str | None, str, int]


class Taking:
    """One import, inside one transaction: batches of rows in the file's order, then `finish`.

    `added`, `known`: how many rows of each kind were new, and how many were there.
    """

    def __init__(self, session: Session, collection: int) -> None:
        self._session = session
        self._collection = collection
        self._ids: dict[int, int] = {}
        """The store's id for each number of the file."""
        self._fresh: set[int] = set()
        """Entities and memories that this import has made: nothing of theirs was there before."""
        self._met: set[int] = set()
        """Entities and memories that were there, and have been taken for one of the file's."""
        self._joined = False
        """Whether two entities of the file are one here: then its own rows may repeat each other."""
        self._names: list[tuple[int, Sequence[FormerName]]] = []
        self._referring: list[Observation | WholeEpisode] = []
        self._observations: dict[int, list[Observation]] = {}
        self._edges: dict[int, list[Edge]] = {}
        self._had_episodes = bool(session.outgoing.episodes(collection, 0, 1))
        self._reflections = self._read_reflections()
        self.added = dict.fromkeys(KINDS.values(), 0)
        self.known = dict.fromkeys(KINDS.values(), 0)

    def take(self, rows: Sequence[Row]) -> None:
        """Rows of one kind; what they refer to was taken before, if it is of another kind."""
        kind = KINDS[type(rows[0])]
        if self._joined and kind in ("observation", "edge"):
            # Each may repeat the one before it.
            added = sum(self._take([row]) for row in rows)
        else:
            added = self._take(rows)
        self.added[kind] += added
        self.known[kind] += len(rows) - added

    def finish(self, envelope: Envelope) -> None:
        """Do what all rows must be there for."""
        session, collection = self._session, self._collection
        for entity, names in self._names:
            session.incoming.former_names(collection, entity, names)
        placed = [self._placed(row) for row in self._referring]
        session.incoming.refer(
            [row for row in placed if isinstance(row, Observation)],
            [row.episode for row in placed if isinstance(row, WholeEpisode)],
        )
        named = session.collections.find(envelope.collection)
        if named is not None and named.id == collection:
            session.incoming.describe(collection, envelope.name, envelope.description)
        if any(self.added.values()):
            session.collections.bump(collection)

    def _take(self, rows: Sequence[Row]) -> int:
        """How many of the rows were new."""
        match rows[0]:
            case WholeEntity():
                return self._take_entities(cast("Sequence[WholeEntity]", rows))
            case Observation():
                return self._take_observations(cast("Sequence[Observation]", rows))
            case Edge():
                return self._take_edges(cast("Sequence[Edge]", rows))
            case Reflection():
                return self._take_reflections(cast("Sequence[Reflection]", rows))
            case WholeEpisode():
                return self._take_episodes(cast("Sequence[WholeEpisode]", rows))
            case EpisodeLink():
                return self._take_links(cast("Sequence[EpisodeLink]", rows))
            case Merge():
                return self._take_merges(cast("Sequence[Merge]", rows))
            case CoOccurrence():
                return self._take_company(cast("Sequence[CoOccurrence]", rows))

    def _placed(self, row: T) -> T:
        """The row with the store's ids; 0 where there is none yet: its own, and those of later rows of its kind."""
        return cast(T, renumbered(cast(Row, row), lambda number: self._ids.get(number, 0), self._lost))

    def _lost(self, number: int) -> int:
        """The id of what a merge remembers; a new one for what was gone already in the store of the file."""
        if number not in self._ids:
            self._ids[number] = self._session.incoming.take_ids(1)
        return self._ids[number]

    # -- the graph -------------------------------------------------------------------------------

    def _take_entities(self, rows: Sequence[WholeEntity]) -> int:
        found = self._session.entities.resolve(self._collection, [row.entity.name for row in rows])
        there = [row for row in rows if row.entity.name in found]
        for row in there:
            self._meet(row, found[row.entity.name].id)
        new: dict[str, WholeEntity] = {}
        for row in rows:
            if row.entity.name not in found:
                new.setdefault(row.entity.name, row)
        added = self._insert([(row.entity.id, row) for row in new.values()], self._session.incoming.entities)
        self._fresh.update(self._ids[row.entity.id] for row in new.values())
        for row in rows:
            if row.entity.name in new and row is not new[row.entity.name]:
                self._meet(row, self._ids[new[row.entity.name].entity.id])
        self._names += [(self._ids[row.entity.id], row.former_names) for row in rows if row.former_names]
        self._add_uses(there)
        return added

    def _meet(self, row: WholeEntity, entity: int) -> None:
        self._joined = self._joined or entity in self._met or entity in self._fresh
        self._met.add(entity)
        self._ids[row.entity.id] = entity

    def _add_uses(self, rows: Iterable[WholeEntity]) -> None:
        uses = {self._ids[row.entity.id]: row.use for row in rows if row.use is not None}
        known = self._session.accesses.of(uses)
        for entity, use in uses.items():
            if entity not in known:
                self._session.incoming.use(self._collection, entity, use)

    def _take_observations(self, rows: Sequence[Observation]) -> int:
        placed = [self._placed(row) for row in rows]
        self._load(self._observations, {row.entity_id for row in placed}, self._observations_of)

        def twin(mine: Observation) -> Observation | None:
            alike = [each for each in self._observations.get(mine.entity_id, ()) if each.content == mine.content]
            return _first(
                alike,
                lambda each: (each.created_at, each.superseded_at) == (mine.created_at, mine.superseded_at),
                lambda each: each.created_at == mine.created_at,
                lambda each: each.superseded_at is None and mine.superseded_at is None,
            )

        new: list[tuple[int, Observation]] = []
        for row, mine in zip(rows, placed, strict=True):
            known = twin(mine)
            if known is None:
                new.append((row.id, mine))
                self._referring += [row] if row.supersedes is not None else []
            else:
                self._ids[row.id] = known.id
                self._use_up(self._observations[mine.entity_id], known)
        added = self._insert(new, self._session.incoming.observations)
        if self._joined:
            for number, mine in new:
                self._observations.setdefault(mine.entity_id, []).append(replace(mine, id=self._ids[number]))
        return added

    def _take_edges(self, rows: Sequence[Edge]) -> int:
        placed = [self._placed(row) for row in rows]
        self._load(self._edges, {row.subject_id for row in placed}, self._edges_of)

        def twin(mine: Edge) -> Edge | None:
            alike = [each for each in self._edges.get(mine.subject_id, ()) if _statement(each) == _statement(mine)]
            return _first(
                alike,
                lambda each: (_begin(each), each.ended_at) == (_begin(mine), mine.ended_at),
                lambda each: _begin(each) == _begin(mine),
                lambda each: each.ended_at is None and mine.ended_at is None,
            )

        new: list[tuple[int, Edge]] = []
        for row, mine in zip(rows, placed, strict=True):
            known = twin(mine)
            if known is None:
                new.append((row.id, mine))
            else:
                self._ids[row.id] = known.id
                self._use_up(self._edges[mine.subject_id], known)
        added = self._insert(new, self._session.incoming.edges)
        if self._joined:
            for number, mine in new:
                self._edges.setdefault(mine.subject_id, []).append(replace(mine, id=self._ids[number]))
        return added

    def _use_up(self, there: list[T], known: T) -> None:
        """A row that was there is taken once; where entities were joined, for all that repeats it."""
        if not self._joined:
            there.remove(known)

    def _load(
        self, into: dict[int, list[T]], entities: set[int], read: Callable[[list[int]], Iterable[tuple[int, T]]]
    ) -> None:
        """Have what these entities had before at hand."""
        wanted = sorted(entities - self._fresh - into.keys())
        into.update({entity: [] for entity in wanted})
        for entity, row in read(wanted) if wanted else ():
            into[entity].append(row)

    def _observations_of(self, entities: list[int]) -> list[tuple[int, Observation]]:
        found = self._session.observations.of(entities, include_superseded=True)
        return [(entity, row) for entity, rows in found.items() for row in rows]

    def _edges_of(self, entities: list[int]) -> list[tuple[int, Edge]]:
        return [(row.subject_id, row) for row in self._session.incoming.edges_from(self._collection, entities)]

    def _take_company(self, rows: Sequence[CoOccurrence]) -> int:
        placed = [self._placed(row) for row in rows]
        return self._session.incoming.company(self._collection, [row for row in placed if row.first != row.second])

    # -- prose -----------------------------------------------------------------------------------

    def _read_reflections(self) -> dict[_ReflectionKey, int]:
        """How often each reflection is there."""
        found: dict[_ReflectionKey, int] = {}
        after = 0
        while page := self._session.outgoing.reflections(self._collection, after, _PAGE):
            for row in page:
                found[_said(row)] = found.get(_said(row), 0) + 1
            after = page[-1].id
        return found

    def _take_reflections(self, rows: Sequence[Reflection]) -> int:
        new: list[Reflection] = []
        for row in map(self._placed, rows):
            if self._reflections.get(_said(row), 0):
                self._reflections[_said(row)] -= 1
            else:
                new.append(row)
        self._session.incoming.reflections(self._collection, new)
        return len(new)

    def _take_episodes(self, rows: Sequence[WholeEpisode]) -> int:
        new: list[tuple[int, WholeEpisode]] = []
        for row in rows:
            known = self._episode_there(row) if self._had_episodes else None
            if known is None:
                new.append((row.episode.id, row))
            else:
                self._ids[row.episode.id] = known
                self._met.add(known)
        added = self._insert(new, self._session.incoming.episodes)
        self._fresh.update(self._ids[number] for number, _row in new)
        self._referring += [
            row
            for _number, row in new
            if (row.episode.possible_duplicate_of, row.episode.superseded_by, row.episode.merged_into) != _NO_KIN
        ]
        return added

    def _episode_there(self, row: WholeEpisode) -> int | None:
        episode = row.episode
        alike = self._session.incoming.episodes_alike(self._collection, episode.session_id, episode.content)
        return next(
            (
                number
                for number, at in alike
                if at == episode.created_at and number not in self._fresh and number not in self._met
            ),
            None,
        )

    def _take_links(self, rows: Sequence[EpisodeLink]) -> int:
        new: list[tuple[int, EpisodeLink]] = []
        for row in rows:
            mine = self._placed(row)
            known = self._between(mine.source_id, mine.target_id, mine.relation_type)
            if known is None:
                new.append((row.id, mine))
            else:
                self._ids[row.id] = known.id
        return self._insert(new, self._session.incoming.links)

    def _between(self, source: int, target: int, relation_type: str) -> EpisodeLink | None:
        if source in self._fresh or target in self._fresh:
            return None
        return next(iter(self._session.episode_links.between(source, target, relation_type)), None)

    def _take_merges(self, rows: Sequence[Merge]) -> int:
        new: list[Merge] = []
        for row in rows:
            mine = (self._ids[row.survivor_id], self._ids[row.merged_id], row.merged_at)
            there = () if mine[1] in self._fresh else self._session.merges.of([mine[1]])
            if mine not in [(each.survivor_id, each.merged_id, each.merged_at) for each in there]:
                new.append(self._placed(row))
        self._session.incoming.merges(self._collection, new)
        return len(new)

    def _insert(self, rows: Sequence[tuple[int, T]], insert: Callable[[int, Sequence[T]], list[int]]) -> int:
        """Insert rows, given with their numbers in the file; how many."""
        made = insert(self._collection, [row for _number, row in rows])
        self._ids.update(zip((number for number, _row in rows), made, strict=True))
        return len(made)


_NO_KIN = (None, None, None)


def _first(rows: Sequence[T], *tests: Callable[[T], bool]) -> T | None:
    """The first row that passes the first test that any passes."""
    for test in tests:
        for row in rows:
            if test(row):
                return row
    return None


def _statement(edge: Edge) -> tuple[str, int | None, str | None]:
    """What an edge says of its subject; `1`, `1.0`, `"1"` and `true` are different."""
    return edge.predicate, edge.object_id, None if edge.value is None else json.dumps(edge.value)


def _begin(edge: Edge) -> int:
    return edge.created_at if edge.valid_from is None else edge.valid_from


def _said(row: Reflection) -> _ReflectionKey:
    return row.target_type, row.target_id, row.former_target, row.author, row.mood, row.content, row.created_at
