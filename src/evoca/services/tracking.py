"""What use teaches: which entities and memories were read, and which entities together.

Recorded after the answer, never failing it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evoca.domain.clock import Clock, Instant
from evoca.errors import EvocaError
from evoca.storage.contract import Session, Store

_COMPANY = 20
"""Of the entities read together the first so many count as company: pairs grow with the square."""


@dataclass(frozen=True, slots=True)
class _Use:
    entities: tuple[int, ...]
    at: Instant
    together: bool
    memories: bool = False
    links: bool = False
    keys: bool = False


class TrackingService:
    """Collects uses and writes them in groups: shortly after the answer, before the next search, on closing.

    A use that cannot be written is dropped and reported to `on_failure`: it is a hint for ranking, not memory.
    """

    def __init__(
        self, store: Store, clock: Clock, on_failure: Callable[[EvocaError], None], delay: float = 0.25
    ) -> None:
        """`delay`: seconds that uses are collected for."""
        self._store = store
        self._clock = clock
        self._on_failure = on_failure
        self._delay = delay
        self._uses: list[_Use] = []
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def opened(self, entities: Sequence[int]) -> None:
        """Entities were read together."""
        self._add(_Use(tuple(entities), self._clock.now(), together=True))

    def observed(self, entities: Sequence[int]) -> None:
        """Entities were written to; that says nothing of their company."""
        self._add(_Use(tuple(entities), self._clock.now(), together=False))

    def recalled(self, memories: Sequence[int]) -> None:
        """Memories were shown."""
        self._add(_Use(tuple(memories), self._clock.now(), together=False, memories=True))

    def followed(self, links: Sequence[int]) -> None:
        """Links between memories led somewhere."""
        self._add(_Use(tuple(links), self._clock.now(), together=False, links=True))

    def presented(self, key: int) -> None:
        """An API key was shown at the door."""
        self._add(_Use((key,), self._clock.now(), together=False, keys=True))

    def flush(self) -> None:
        """Write what was collected. Waits for the commit."""
        with self._lock:
            uses, self._uses = self._uses, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        if not uses:
            return

        def work(session: Session) -> None:
            for use in uses:
                if use.keys:
                    session.keys.used(use.entities[0], use.at)
                    continue
                if use.links:
                    session.episode_links.use(use.entities, use.at)
                    continue
                if use.memories:
                    session.episodes.use(use.entities, use.at)
                    continue
                near, rest = (use.entities[:_COMPANY], use.entities[_COMPANY:]) if use.together else ((), use.entities)
                session.accesses.record(near, use.at, pairs=True)
                session.accesses.record(rest, use.at, pairs=False)

        try:
            self._store.write(work)
        except EvocaError as error:
            self._on_failure(error)

    def close(self) -> None:
        self.flush()

    def _add(self, use: _Use) -> None:
        if not use.entities:
            return
        with self._lock:
            self._uses.append(use)
            if self._timer is None:
                self._timer = threading.Timer(self._delay, self.flush)
                self._timer.daemon = True
                self._timer.start()
