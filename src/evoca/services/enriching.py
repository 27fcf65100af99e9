"""What follows a save in the background: copies, links and contradictions, once the memory has its vector.

The work is a row that was written with the memory; a kill loses nothing, and doing it twice changes nothing. It only
adds links and marks: nothing here removes or archives a memory, but those whose time is over, which go COLD.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evoca.domain.clock import Clock, Instant
from evoca.domain.episodes import CONTRADICTS, SIMILAR, Episode, NewEpisodeLink
from evoca.services.episodes import settle_superseded
from evoca.services.serving import Serving
from evoca.services.traits import Traits
from evoca.services.vectors import observation_vectors
from evoca.storage.contract import Session, Store

if TYPE_CHECKING:
    from evoca.domain.contradictions import Contradiction
    from evoca.retrieval.embedders import Embedder
    from evoca.services.judging import Judging
    from evoca.storage.episode_contract import PendingEnrichment

DUPLICATE = 0.9
"""From this calibrated similarity on a memory is marked as a possible copy (seed 002)."""
LINKED = 0.75
MOST_LINKS = 3
"""`similar` links that a memory gets when they are asked for, and the similarity that they need (seed 002)."""
NEAR = 16
"""Memories that are compared with a new one, the nearest in meaning."""
SURE = 0.8
"""Confidence from which on the newer of two contradicting memories of a session takes the older one's place."""
JUDGED = 0.5
MOST_JUDGED = 3
"""Pairs that a judge is asked about when the rules find nothing, and the similarity that they need."""
_LEASE: Instant = 60_000_000
_AT_ONCE = 8
_SWEPT = 500


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two memories that cannot both hold, and why. `replaces`: the newer one takes the older one's place."""

    newer: int
    older: int
    contradiction: Contradiction
    replaces: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found out about a memory. `copy_of`: (the later one, the earlier one) of two that mean the same.

    `texts`: what the memories said that it was found out from. `undecided`: (older, newer) pairs of near memories in
    which no rule sees a contradiction, for the judge.
    """

    texts: dict[int, str]
    copy_of: tuple[int, int] | None
    similar: tuple[tuple[int, float], ...]
    disputes: tuple[Dispute, ...]
    undecided: tuple[tuple[int, int], ...] = ()


class EnrichingService:
    """Works off the rows of `Enrichments`; called by the indexer's thread when no vector waits."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        serving: Serving,
        traits: Traits,
        owner: str,
        judging: Judging | None = None,
    ) -> None:
        """`owner` names this process in leases. `judging`: a second opinion on contradictions."""
        self._store = store
        self._clock = clock
        self._serving = serving
        self._traits = traits
        self._owner = owner
        self._judging = judging

    def due(self, model: str) -> bool:
        """Whether there is anything to do."""
        now = self._clock.now()
        return self._store.read(
            lambda session: session.enrichments.ready(model, now) or bool(session.episodes.expired(now, 1))
        )

    def work(self, embedder: Embedder) -> None:
        """Do some of it. Raises EvocaError; what was begun is taken up again after a minute, by any process."""
        now = self._clock.now()
        self.retire(now)
        claimed = self._store.write(
            lambda session: session.enrichments.claim(embedder.model_id, _AT_ONCE, self._owner, now, now + _LEASE)
        )
        for each in claimed:
            findings = self._store.read(lambda session, each=each: self._look(session, embedder, each))
            if findings is not None:
                judged = self._judged(findings)
                self._store.write(lambda session, each=each, found=judged: self._note(session, each, found))

    def retire(self, now: Instant) -> None:
        """Memories whose time is over go COLD; critical ones have no end."""
        if self._store.read(lambda session: session.episodes.expired(now, 1)):
            self._store.write(
                lambda session: session.episodes.archive(session.episodes.expired(now, _SWEPT), "expired", now)
            )

    # -- looking ---------------------------------------------------------------------------------

    def _look(self, session: Session, embedder: Embedder, pending: PendingEnrichment) -> Findings | None:
        """None while some part of the memory still waits for its vector."""
        nothing = Findings({}, None, (), ())
        collection, number = pending.collection_id, pending.episode_id
        episode = session.episodes.by_ids(collection, [number]).get(number)
        if episode is None or episode.archived_at is not None or episode.merged_into is not None:
            return nothing
        vectors = observation_vectors(session, embedder, [number])
        if not vectors.known[0]:
            return None
        from evoca.retrieval.sessions import Arrangement
        from evoca.retrieval.traits import TraitFilter

        traits = self._traits.view(session, collection)
        now = self._clock.now()
        scope = traits.allowed(TraitFilter(now, session_id="")) | traits.allowed(
            TraitFilter(now, session_id=episode.session_id)
        )
        near = self._serving.wanted().nearest(
            session, collection, vectors.rows[0], Arrangement(traits, scope, ()), NEAR + 1
        )
        similarities = {other: similarity for other, similarity in near if other != number}
        others = session.episodes.by_ids(collection, similarities)
        disputes = self._disputes(session, episode, others.values(), similarities)
        disputed = {dispute.newer for dispute in disputes} | {dispute.older for dispute in disputes}
        agreeing = [(other, similarities[other]) for other in similarities if other in others and other not in disputed]
        return Findings(
            {each.id: each.content for each in (episode, *others.values())},
            _copy_of(episode, others, agreeing),
            tuple(pair for pair in agreeing if pair[1] > LINKED)[:MOST_LINKS] if pending.auto_link else (),
            disputes,
            self._undecided(session, episode, (others[other] for other, _ in agreeing), similarities),
        )

    def _disputes(
        self, session: Session, episode: Episode, others: Iterable[Episode], similarities: dict[int, float]
    ) -> tuple[Dispute, ...]:
        found: list[Dispute] = []
        for other in others:
            older, newer = in_order(session, episode, other)
            contradiction = compare(older, newer, similarities[other.id])
            if contradiction is not None:
                # What is said in one session leaves the others what they share.
                replaces = contradiction.confidence >= SURE and newer.session_id == older.session_id
                found.append(Dispute(newer.id, older.id, contradiction, replaces))
        return tuple(found)

    def _judged(self, found: Findings) -> Findings:
        """With what the judge makes of the undecided pairs; asked outside of any transaction. It only marks."""
        if self._judging is None:
            return found
        disputes = [
            Dispute(newer, older, contradiction, replaces=False)
            for older, newer in found.undecided
            if (contradiction := self._judging.opinion(found.texts[older], found.texts[newer])) is not None
        ]
        if not disputes:
            return found
        disputed = {end for dispute in disputes for end in (dispute.newer, dispute.older)}
        copy_of = None if found.copy_of is not None and disputed.issuperset(found.copy_of) else found.copy_of
        similar = tuple(pair for pair in found.similar if pair[0] not in disputed)
        return Findings(found.texts, copy_of, similar, (*found.disputes, *disputes))

    def _undecided(
        self, session: Session, episode: Episode, others: Iterable[Episode], similarities: dict[int, float]
    ) -> tuple[tuple[int, int], ...]:
        """The nearest pairs that a judge is to be asked about; none without one."""
        if self._judging is None or not self._judging.wanted:
            return ()
        near = sorted(others, key=lambda each: -similarities[each.id])[:MOST_JUDGED]
        pairs = [in_order(session, episode, other) for other in near if similarities[other.id] >= JUDGED]
        return tuple((older.id, newer.id) for older, newer in pairs)

    # -- noting ----------------------------------------------------------------------------------

    def _note(self, session: Session, pending: PendingEnrichment, found: Findings) -> None:
        collection, number = pending.collection_id, pending.episode_id
        if not session.enrichments.finish(number, self._owner):
            return
        now = self._clock.now()
        known = session.episodes.by_ids(collection, found.texts)
        # What has got another text meanwhile is looked at anew by itself.
        alive = {other for other, text in found.texts.items() if other in known and known[other].content == text}
        if found.copy_of is not None and all(end in alive for end in found.copy_of):
            session.episodes.mark_duplicate(*found.copy_of)
        for other, similarity in found.similar:
            if other in alive and not session.episode_links.between(other, number, SIMILAR):
                details = json.dumps({"auto": True})
                link = NewEpisodeLink(number, other, SIMILAR, round(min(1.0, similarity), 4), details)
                session.episode_links.insert(collection, link, now)
        for dispute in found.disputes:
            if dispute.newer in alive and dispute.older in alive:
                session.episode_links.insert(collection, _dispute_link(dispute), now)
        settle_superseded(session, collection, {dispute.older for dispute in found.disputes})


def compare(older: Episode, newer: Episode, similarity: float | None) -> Contradiction | None:
    """Whether the newer memory contradicts the older one; None when unsure."""
    from evoca.domain.contradictions import audit

    return audit(older.content, newer.content, similarity)


def stated_at(session: Session, episode: Episode) -> Instant:
    """When a memory came to say what it says: its creation, or the last update of its text."""
    rewritten = [
        version.replaced_at for version in session.episodes.versions(episode.id) if version.content != episode.content
    ]
    return max(rewritten, default=episode.created_at)


def in_order(session: Session, one: Episode, other: Episode) -> tuple[Episode, Episode]:
    """(the older, the newer), by when they came to say what they say."""
    older, newer = sorted((one, other), key=lambda each: (stated_at(session, each), each.id))
    return older, newer


def _copy_of(
    episode: Episode, others: dict[int, Episode], agreeing: Sequence[tuple[int, float]]
) -> tuple[int, int] | None:
    """(the later one, the earlier one) when the nearest memory of the same session means the same.

    Texts that differ in a number, a date, a name, a negation or an opposite are no copies, however near they are; the
    order of words is no sure sign, and a mark does no harm.
    """
    from evoca.domain.differences import Reading, differences

    for other, similarity in agreeing:
        if similarity <= DUPLICATE:
            break
        differ = differences(Reading(others[other].content), Reading(episode.content))
        if others[other].session_id == episode.session_id and not set(differ) - {"order"}:
            return max(other, episode.id), min(other, episode.id)
    return None


def _dispute_link(dispute: Dispute) -> NewEpisodeLink:
    """From the newer memory to the older one."""
    contradiction = dispute.contradiction
    details = {
        "auto": True,
        "confidence": round(contradiction.confidence, 4),
        "kind": contradiction.kind,
        "differs_in": list(contradiction.differs_in),
        "supersedes": dispute.replaces,
    }
    return NewEpisodeLink(
        dispute.newer, dispute.older, CONTRADICTS, round(contradiction.confidence, 4), json.dumps(details)
    )
