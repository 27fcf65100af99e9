"""The process's one table of what is known of memories besides their texts, made at first need."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from evoca.storage.contract import Session

if TYPE_CHECKING:
    from evoca.retrieval.traits import TraitIndex, TraitView


class Traits:
    """Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index: TraitIndex | None = None

    def view(self, session: Session, collection: int) -> TraitView:
        """The collection's memories as the session sees them."""
        with self._lock:
            if self._index is None:
                from evoca.retrieval.traits import TraitIndex

                self._index = TraitIndex()
        return self._index.view(session, collection)
