"""The change feed, read: which ids have changed since a value of the change counter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evoca.storage.connection import Connection

_MAX_ID = 9_223_372_036_854_775_807


@dataclass(frozen=True, slots=True)
class Feed:
    """`spans`: ids (first, last) that may have changed, ascending. `gone`: ids of documents that went.

    `complete`: everything is in `spans`, because `since` was too old, too new or 0.
    """

    counter: int
    spans: Sequence[tuple[int, int]]
    gone: Sequence[int]
    complete: bool


def read_feed(connection: Connection, since: int) -> Feed:
    (kept,) = connection.select(_KEPT, {}, tuple[int])[0]
    counter = read_counter(connection)
    if since <= 0 or since < kept or since > counter:
        return Feed(counter, [(1, _MAX_ID)], (), complete=True)
    spans = connection.select(_SPANS, {"since": since}, tuple[int, int])
    gone = [each for (each,) in connection.select(_GONE, {"since": since}, tuple[int])]
    return Feed(counter, _joined(spans), gone, complete=False)


def read_counter(connection: Connection) -> int:
    return connection.select(_COUNTER, {}, tuple[int])[0][0]


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping and neighbouring spans as one, ascending."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


_COUNTER = "SELECT value FROM counters WHERE name = 'documents'"
_KEPT = "SELECT value FROM counters WHERE name = 'documents_kept'"
_SPANS = "SELECT first_id, last_id FROM document_changes WHERE counter > :since"
_GONE = """
SELECT DISTINCT document_id FROM tombstones t
WHERE counter > :since AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = t.document_id)
ORDER BY document_id
"""
