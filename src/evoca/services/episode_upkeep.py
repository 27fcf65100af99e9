"""Looking after the memories: copies merged and unmerged, figures, health (seed 002; contract, Hipocampo 4)."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evoca.domain.clock import Clock
from evoca.domain.episodes import NIVELES, Episode, Tier
from evoca.domain.identity import near_identical
from evoca.errors import ModelUnavailable
from evoca.services.embedding import Embedding
from evoca.services.episode_merging import merge, preference, take_back
from evoca.services.episodes import find
from evoca.services.forgetting import Candidate, Upkeep
from evoca.services.indexing import IndexingService
from evoca.services.tracking import TrackingService
from evoca.services.vectors import ObservationVectors, observation_vectors
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    from evoca.retrieval.embedders import Embedder
    from evoca.storage.episode_contract import EpisodeTally

_LITTLE_SPACE = 1_000_000_000
"""Bytes free where the store is, below which a person should know."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A memory that may be a copy and is left alone. `similarity`: None while unknown. `reason`: in Spanish."""

    id: int
    of: int
    similarity: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Deduplication:
    upkeep: Upkeep
    flagged: tuple[Flagged, ...]


@dataclass(frozen=True, slots=True)
class EpisodeStats:
    """Counts of a collection's memories. `by_nivel`, `by_tier`, `critical`, `superseded`, `expired`, `flagged`: of
    those that were not merged away; `merged`: of the others. `pending`: how many wait for their vector."""

    total: int
    by_nivel: dict[str, int]
    by_tier: dict[Tier, int]
    critical: int
    superseded: int
    expired: int
    flagged: int
    merged: int
    links: dict[str, int]
    sessions: int
    pending: int
    to_examine: int


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `detail`: for people, in Spanish."""

    name: str
    fine: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Health:
    status: Literal["ok", "degraded", "error"]
    checks: tuple[Check, ...]


class EpisodeUpkeepService:
    """Keeps one store's memories in shape."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        embedding: Embedding,
        indexing: IndexingService,
        tracking: TrackingService,
    ) -> None:
        self._store = store
        self._clock = clock
        self._embedding = embedding
        self._indexing = indexing
        self._tracking = tracking

    def deduplicate(self, collection: int, threshold: float, dry_run: bool) -> Deduplication:
        """Merge copies within a session: texts that are the same but for case and space, and near-identical ones
        whose similarity reaches `threshold`.

        Near-identical ones without a vector, or less similar, are only named. Critical memories take no part.
        """
        self._tracking.flush()
        embedder = self._embedder()
        now = self._clock.now()

        def plan(session: Session) -> tuple[list[Candidate], list[Flagged]]:
            copies: list[Candidate] = []
            flagged = [
                Flagged(each.id, of, None, "mismo significado")
                for each in session.episodes.flagged(collection)
                if (of := each.possible_duplicate_of) is not None
            ]
            for group in session.episodes.repeated(collection, now):
                found, close = _settle(_Group(session, embedder, group), threshold)
                copies += found
                flagged += close
            gone = {each.id for each in copies}
            left = {each.id: each for each in flagged if not {each.id, each.of} & gone}
            return sorted(copies, key=lambda each: each.id), sorted(left.values(), key=lambda each: each.id)

        def work(session: Session) -> Deduplication:
            copies, flagged = plan(session)
            if not dry_run:
                for each in copies:
                    assert each.survivor is not None  # noqa: S101 - copies have one
                    merge(session, collection, each.id, each.survivor, now)
            return Deduplication(Upkeep(dry_run, tuple(copies)), tuple(flagged))

        return self._store.read(work) if dry_run else self._store.write(work)

    def undo_deduplication(self, collection: int, number: int | None, dry_run: bool) -> Upkeep:
        """Take merges back: of one memory (the copy, or the survivor with all its copies), or of the last run.

        Raises NotFound for an unknown id. Taking back what was taken back already changes nothing.
        """
        now = self._clock.now()

        def work(session: Session) -> Upkeep:
            if number is not None:
                find(session, collection, number)
            standing = [each for each in session.merges.all(collection) if each.undone_at is None]
            if number is None:
                last = max((each.merged_at for each in standing), default=0)
                chosen = [each for each in standing if each.merged_at == last]
            else:
                chosen = [each for each in standing if number in (each.merged_id, each.survivor_id)]
            if not dry_run:
                for each in reversed(chosen):
                    take_back(session, collection, each, now)
            found = [
                Candidate(each.merged_id, "unmerge", f"fusionado en id={each.survivor_id}", each.survivor_id)
                for each in chosen
            ]
            return Upkeep(dry_run, tuple(found))

        return self._store.read(work) if dry_run else self._store.write(work)

    def stats(self, collection: int) -> EpisodeStats:
        now = self._clock.now()

        def work(session: Session) -> EpisodeStats:
            tallies = session.episodes.tally(collection, now)
            shown = [each for each in tallies if not each.merged]
            live = session.episodes.live(collection)
            hot = len(session.documents.embedded([each.id for each in live], self._indexing.models(session)))
            links: dict[str, int] = {}
            for link in session.episode_links.all(collection):
                links[link.relation_type] = links.get(link.relation_type, 0) + 1
            return EpisodeStats(
                total=_sum(shown),
                by_nivel={nivel: _sum(each for each in shown if each.nivel == nivel) for nivel in NIVELES},
                by_tier={
                    "HOT": hot,
                    "WARM": len(live) - hot,
                    "COLD": _sum(each for each in shown if each.archived),
                },
                critical=_sum(each for each in shown if each.critico),
                superseded=_sum(each for each in shown if each.superseded),
                expired=_sum(each for each in shown if each.expired),
                flagged=_sum(each for each in shown if each.flagged),
                merged=_sum(each for each in tallies if each.merged),
                links=dict(sorted(links.items())),
                sessions=len({each.session_id for each in live if each.session_id}),
                pending=len(live) - hot if self._embedding.wanted else 0,
                to_examine=session.enrichments.pending(collection),
            )

        return self._store.read(work)

    def health(self, collection: int) -> Health:
        """The store, the model, the collection's work that waits, the space that is left."""
        report = self._store.check()
        indexing = self._indexing.status(collection)
        sound = report.get("integrity", "ok") == "ok"
        checks = [
            Check("store", sound, "almacén íntegro" if sound else "almacén dañado: haz una copia y restaura"),
            Check(
                "writable",
                report.get("writable", "yes") == "yes",
                "se puede escribir" if report.get("writable", "yes") == "yes" else "solo lectura",
            ),
            self._model_check(),
            Check("pending", indexing.state != "failing", f"{indexing.pending} textos esperan su vector"),
        ]
        free = _free_space(self._store.location)
        if free is not None:
            checks.append(Check("space", free >= _LITTLE_SPACE, f"{free // 1_000_000} MB libres"))
        if not sound:
            return Health("error", tuple(checks))
        return Health("ok" if all(each.fine for each in checks) else "degraded", tuple(checks))

    def _model_check(self) -> Check:
        if not self._embedding.wanted:
            return Check("model", fine=True, detail="sin modelo: se busca solo por palabras")
        try:
            return Check("model", fine=True, detail=self._embedding.load().model_id)
        except ModelUnavailable as error:
            return Check("model", fine=False, detail=error.message)

    def _embedder(self) -> Embedder | None:
        if not self._embedding.wanted:
            return None
        try:
            return self._embedding.load()
        except ModelUnavailable:
            # Near-identical memories are then named, not merged.
            return None


class _Group:
    """Memories that have the same content words, with their vectors, read when first asked for."""

    def __init__(self, session: Session, embedder: Embedder | None, members: Sequence[Episode]) -> None:
        self._session = session
        self._embedder = embedder
        self.members = sorted(members, key=preference)
        self._place = {each.id: at for at, each in enumerate(self.members)}
        self._vectors: ObservationVectors | None = None

    def similarity(self, one: Episode, other: Episode) -> float | None:
        """The calibrated cosine; None while a vector is missing."""
        if self._embedder is None:
            return None
        if self._vectors is None:
            self._vectors = observation_vectors(self._session, self._embedder, [each.id for each in self.members])
        vectors, first, second = self._vectors, self._place[one.id], self._place[other.id]
        if not (vectors.known[first] and vectors.known[second]):
            return None
        cosine = vectors.rows[first : first + 1] @ vectors.rows[second]
        return float(self._embedder.calibration.similarity(cosine)[0])


def _settle(group: _Group, threshold: float) -> tuple[list[Candidate], list[Flagged]]:
    """Each memory goes into the first survivor that it is a copy of, or survives itself."""
    survivors: list[Episode] = []
    copies: list[Candidate] = []
    flagged: list[Flagged] = []
    for each in group.members:
        close: Flagged | None = None
        for survivor in survivors:
            likeness = 1.0 if each.content == survivor.content else near_identical(each.content, survivor.content)
            if likeness is None:
                continue
            similarity = None if likeness == 1.0 else group.similarity(each, survivor)
            if likeness == 1.0 or (similarity is not None and similarity >= threshold):
                why = "texto igual" if likeness == 1.0 else f"casi idéntico, similitud {similarity:.2f}"
                copies.append(Candidate(each.id, "merge", f"{why} a id={survivor.id}", survivor.id))
                break
            unsure = "casi idéntico, sin vector con que compararlo" if similarity is None else "casi idéntico"
            close = close or Flagged(each.id, survivor.id, similarity, unsure)
        else:
            survivors.append(each)
            if close is not None:
                flagged.append(close)
    return copies, flagged


def _sum(tallies: Iterable[EpisodeTally]) -> int:
    return sum(each.count for each in tallies)


def _free_space(location: str) -> int | None:
    """Bytes free where a store file is; None for a store elsewhere."""
    folder = Path(location).parent
    return shutil.disk_usage(folder).free if folder.is_dir() else None
