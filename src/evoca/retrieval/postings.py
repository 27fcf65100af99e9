"""Which documents hold a query's words, with a memory for words that many documents hold.

Reading the list of such a word is most of what a search costs. A store has few of them, and they are asked for again
and again. What is kept is brought up to date from the change feed: only the ids that may have changed are read anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evoca.storage.contract import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONG = 512
"""Ids of a list that is worth keeping."""
_KEPT = 1_000_000
"""Ids that are kept in all, 8 bytes each; lists that nobody asked for in a long time go first."""
_SPANS = 8
"""A list is read anew when more spans of ids have changed."""

_Key = tuple[int, tuple[str, ...]]


class Postings:
    """The postings of one store. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: OrderedDict[_Key, tuple[int, NDArray[np.int64]]] = OrderedDict()
        self._size = 0
        self._latest = 0

    def read(self, session: Session, collection: int, terms: Sequence[tuple[str, ...]]) -> list[NDArray[np.int64]]:
        """For each term (its alternatives): ids, ascending, of at least all documents that hold it and still exist.

        `session`: one that reads.
        """
        counter = session.documents.counter()
        found = {term: ids for term in terms if (ids := self._known(session, (collection, term), counter)) is not None}
        missing = [term for term in terms if term not in found]
        for term, ids in zip(missing, session.documents.postings(collection, missing), strict=True):
            found[term] = ids
            self._keep((collection, term), counter, ids)
        return [found[term] for term in terms]

    def _known(self, session: Session, key: _Key, counter: int) -> NDArray[np.int64] | None:
        with self._lock:
            if counter < self._latest:
                # An older state of the store, or the store was put back from a copy: nothing here holds for it.
                self._forget()
            self._latest = counter
            kept = self._lists.get(key)
            if kept is None:
                return None
            self._lists.move_to_end(key)
        then, ids = kept
        if then == counter:
            return ids
        spans = session.documents.changed_ids(then)
        if spans is None or len(spans) > _SPANS:
            return None
        collection, term = key
        for span in spans:
            (fresh,) = session.documents.postings(collection, [term], span)
            begin, end = np.searchsorted(ids, [span[0], span[1] + 1]).tolist()
            ids = np.concatenate([ids[:begin], fresh, ids[end:]])
        self._keep(key, counter, ids)
        return ids

    def _keep(self, key: _Key, counter: int, ids: NDArray[np.int64]) -> None:
        with self._lock:
            if counter < self._latest or len(ids) < _LONG:
                return
            former = self._lists.pop(key, None)
            self._lists[key] = counter, ids
            self._size += len(ids) - (0 if former is None else len(former[1]))
            while self._size > _KEPT:
                _key, (_counter, oldest) = self._lists.popitem(last=False)
                self._size -= len(oldest)

    def _forget(self) -> None:
        self._lists.clear()
        self._size = 0
