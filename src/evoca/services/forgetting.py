"""What becomes of memories with time: consolidated, degraded, archived, brought back (seed 002; Hipocampo 4).

One rule decides for the dry run and for the real one. Critical memories are left alone by every process, and a process
that has just run finds nothing more to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evoca.domain.clock import DAY, Clock, Instant
from evoca.domain.episodes import AUTOMATICA, EPISODICA, SEMANTICA, Episode
from evoca.domain.identity import signature
from evoca.services.episodes import EpisodeView, find, views_of
from evoca.services.indexing import IndexingService
from evoca.services.tracking import TrackingService
from evoca.storage.contract import Session, Store

UNUSED = "auto_review_expired"
"""Why a rule was degraded (seed 002)."""
AGED = "decay"
EXPIRED = "expired"
"""Why a memory was archived."""
_ALL = 2**31

Action = Literal["consolidate", "degrade", "archive", "merge", "unmerge"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is done to a memory, or would be. `reason`: for people, in Spanish. `survivor`: of its merge."""

    id: int
    action: Action
    reason: str
    survivor: int | None = None


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What a process found to do, by id; it has been done unless `dry_run`."""

    dry_run: bool
    candidates: tuple[Candidate, ...]

    @property
    def changed(self) -> tuple[int, ...]:
        return () if self.dry_run else tuple(each.id for each in self.candidates)


@dataclass(frozen=True, slots=True)
class Restored:
    """`already`: it was not archived. `renewed`: its time was over; it has no end any more. `twins`: say the same."""

    view: EpisodeView
    already: bool
    renewed: bool = False
    twins: tuple[int, ...] = ()


class ForgettingService:
    """The ageing of one store's memories. Ages are microseconds; 0 takes every memory."""

    def __init__(self, store: Store, clock: Clock, indexing: IndexingService, tracking: TrackingService) -> None:
        self._store = store
        self._clock = clock
        self._indexing = indexing
        self._tracking = tracking

    def consolidate(self, collection: int, min_age: Instant, dry_run: bool) -> Upkeep:
        """Raise episodic memories of that age to `semantica`. Superseded and expired ones stay what they are."""
        now = self._clock.now()

        def plan(session: Session) -> list[Candidate]:
            return [
                Candidate(each.id, "consolidate", f"episódica, {_days(now - each.created_at)}")
                for each in _free(session, collection, EPISODICA, now, min_age)
                if each.superseded_by is None
            ]

        def apply(session: Session, found: Sequence[Candidate]) -> None:
            session.episodes.consolidate(_ids(found), SEMANTICA, now)

        return self._run(plan, apply, dry_run)

    def review_rules(self, collection: int, max_age: Instant, dry_run: bool) -> Upkeep:
        """Lower rules (`automatica`) to `semantica` that were neither used nor changed for so long.

        The public implementation never counts a use, so that it degrades every old rule.
        """
        self._tracking.flush()
        now = self._clock.now()

        def plan(session: Session) -> list[Candidate]:
            return [
                Candidate(each.id, "degrade", f"regla sin usar desde hace {_days(now - each.updated_at)}")
                for each in _free(session, collection, AUTOMATICA, now, max_age)
                if not each.used_count and _old(each.updated_at, now, max_age)
            ]

        def apply(session: Session, found: Sequence[Candidate]) -> None:
            session.episodes.degrade(_ids(found), SEMANTICA, UNUSED, now)

        return self._run(plan, apply, dry_run)

    def decay(self, collection: int, min_age: Instant, dry_run: bool) -> Upkeep:
        """Archive episodic memories of that age without any link, and whatever has expired. Nothing is deleted."""
        now = self._clock.now()

        def plan(session: Session) -> list[Candidate]:
            linked = session.episode_links.linked(collection)
            found = [
                Candidate(each.id, "archive", f"episódica, {_days(now - each.created_at)}, sin enlaces")
                for each in _free(session, collection, EPISODICA, now, min_age)
                if each.id not in linked
            ]
            over = [Candidate(number, "archive", "caducada") for number in _over(session, collection, now)]
            return sorted(found + over, key=lambda each: each.id)

        def apply(session: Session, found: Sequence[Candidate]) -> None:
            over = _over(session, collection, now)
            session.episodes.archive([each.id for each in found if each.id not in over], AGED, now)
            session.episodes.archive(sorted(over), EXPIRED, now)

        return self._run(plan, apply, dry_run)

    def restore(self, collection: int, number: int) -> Restored:
        """Bring an archived memory back under its id, with everything it had; its vector is made anew.

        Raises NotFound.
        """
        now = self._clock.now()

        def work(session: Session) -> Restored:
            archived = find(session, collection, number, alive=True)
            if archived.archived_at is None:
                return Restored(views_of(session, self._indexing, [archived])[0], already=True)
            session.episodes.restore(collection, [number])
            mark = signature(archived.content)
            renewed = archived.expired(now)
            if renewed:
                session.episodes.update(collection, archived, replace(archived, expires_at=None), mark, now)
            alike = session.episodes.alike(collection, archived.session_id, mark, now)
            (back,) = views_of(session, self._indexing, [find(session, collection, number)])
            return Restored(back, already=False, renewed=renewed, twins=tuple(e.id for e in alike if e.id != number))

        return self._store.write(work)

    def _run(
        self,
        plan: Callable[[Session], list[Candidate]],
        apply: Callable[[Session, Sequence[Candidate]], None],
        dry_run: bool,
    ) -> Upkeep:
        """Plan, and do it in the same transaction unless `dry_run`."""
        if dry_run:
            return Upkeep(dry_run=True, candidates=tuple(self._store.read(plan)))

        def work(session: Session) -> tuple[Candidate, ...]:
            found = tuple(plan(session))
            if found:
                apply(session, found)
            return found

        return Upkeep(dry_run=False, candidates=self._store.write(work))


def _free(session: Session, collection: int, nivel: str, now: Instant, age: Instant) -> list[Episode]:
    """Live memories of a level that are that old and that a process may change."""
    before = now - age + 1 if age else None
    return [
        each for each in session.episodes.live(collection, nivel, before) if not each.critico and not each.expired(now)
    ]


def _over(session: Session, collection: int, now: Instant) -> set[int]:
    return set(session.episodes.by_ids(collection, session.episodes.expired(now, _ALL)))


def _old(since: Instant, now: Instant, age: Instant) -> bool:
    return not age or now - since >= age


def _ids(found: Sequence[Candidate]) -> list[int]:
    return [each.id for each in found]


def _days(age: Instant) -> str:
    days = max(0, age) // DAY
    return "1 día" if days == 1 else f"{days} días"
