"""Reading the graph as it is: all of it, by substring, by name (seed 000, tools 7 and 8; `read_graph`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from evoca.domain.graph import Edge, Entity
from evoca.domain.text import fold_case, nfc
from evoca.services.views import EntityDetails, EntityView, GraphView, Page, views_of
from evoca.storage.contract import Session, Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of an ordered answer is wanted. Both None: all of it, and nothing is said of paging."""

    limit: int | None = None
    offset: int | None = None

    @property
    def whole(self) -> bool:
        return self.limit is None and self.offset is None

    def cut(self, rows: Sequence[T]) -> tuple[Sequence[T], Page | None]:
        """The wanted rows of all rows."""
        if self.whole:
            return rows, None
        start = self.offset or 0
        stop = len(rows) if self.limit is None else start + self.limit
        return rows[start:stop], Page(len(rows), stop < len(rows))


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """What `open_nodes` shows beyond the plain view. `kinds`: only observations of these kinds."""

    details: bool = False
    kinds: tuple[str, ...] | None = None
    include_superseded: bool = False
    include_ended: bool = False


class ReadingService:
    """Reads of one store's graphs; each is one snapshot."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read_graph(self, collection: int, window: Window) -> GraphView:
        """All entities in order of insertion, or a page of them."""

        def work(session: Session) -> GraphView:
            if window.whole:
                views = views_of(session, session.entities.page(collection))
                return GraphView(views, tuple(session.edges.all(collection)))
            total = session.entities.count(collection)
            start = window.offset or 0
            rows = session.entities.page(collection, start, window.limit)
            return _graph(session, rows, Page(total, start + len(rows) < total))

        return self._store.read(work)

    def search_nodes(self, collection: int, query: str, window: Window) -> GraphView:
        """Entities whose name, type or a live observation contains `query` (see `domain.text.fold_case`)."""
        needle = fold_case(query)
        if not needle:
            return self.read_graph(collection, window)

        def work(session: Session) -> GraphView:
            ids, page = window.cut(session.substrings.entities(collection, needle))
            found = session.entities.by_ids(ids)
            return _graph(session, [found[id_] for id_ in ids], page)

        return self._store.read(work)

    def open_nodes(self, collection: int, names: Sequence[str], options: OpenOptions, window: Window) -> GraphView:
        """Entities by exact name, in the order asked for; unknown names are left out."""
        wanted = list(dict.fromkeys(nfc(name) for name in names))

        def work(session: Session) -> GraphView:
            found = session.entities.resolve(collection, wanted)
            named = {found[name].id: found[name] for name in wanted if name in found}
            rows, page = window.cut(list(named.values()))
            if options == OpenOptions():
                return _graph(session, rows, page)
            return _opened(session, rows, page, options)

        return self._store.read(work)


def _graph(session: Session, rows: Sequence[Entity], page: Page | None) -> GraphView:
    relations = session.edges.touching([row.id for row in rows])
    return GraphView(views_of(session, rows), tuple(relations), page)


def _opened(session: Session, rows: Sequence[Entity], page: Page | None, options: OpenOptions) -> GraphView:
    ids = [row.id for row in rows]
    observations = session.observations.of(ids, options.include_superseded, options.kinds)
    views = tuple(EntityView(row, tuple(item.content for item in observations[row.id])) for row in rows)
    relations: list[Edge] = session.edges.touching(ids, include_ended=options.include_ended)
    if not options.details:
        return GraphView(views, tuple(relations), page)
    said = session.reflections.about("entity", ids)
    details = {id_: EntityDetails(tuple(observations[id_]), tuple(said[id_])) for id_ in ids}
    return GraphView(views, tuple(relations), page, details)
