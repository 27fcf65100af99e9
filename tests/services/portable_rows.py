"""Whatever a collection may hold, drawn at random: rows as an export has them, numbered as it numbers them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from evoca.domain.clock import LAST
from evoca.domain.episodes import NIVELES, Episode, EpisodeLink, EpisodeVersion, Merge
from evoca.domain.facts import Scalar
from evoca.domain.graph import DEFAULT_KIND, CoOccurrence, Edge, Entity, Observation
from evoca.domain.reflections import Reflection
from evoca.domain.text import nfc
from evoca.services.episode_merging import MergeRecord, Moved, written
from evoca.services.portable import FileNumbers, Row, renumbered
from evoca.storage.transfer_contract import FormerName, Use, WholeEntity, WholeEpisode

LOST = 1_000_000
"""Ids from here on are of things that are gone."""
texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=12)
filled = texts.map(lambda text: nfc(f"{text}x"))
NAMES = st.sampled_from([f"{name} {number}" for name in ("Ana", "José 🐝", "Ñandú") for number in range(6)]) | filled
"""Few enough to be the same in two collections."""
instants = st.integers(-(10**15), 2 * 10**15) | st.sampled_from([0, LAST, LAST + 1])
maybe_instants = st.none() | instants
shares = st.floats(0, 1)
scalars: st.SearchStrategy[Scalar] = (
    texts
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["1", "true", 1, 1.0, True])
)


@st.composite
def collections(draw: st.DrawFn) -> list[Row]:
    """The rows of one collection, in the order of an export."""
    entities = draw(st.integers(0, 4))
    graph = _graph(draw, range(1, entities + 1)) if entities else []
    episodes = draw(st.integers(0, 4))
    rows: list[Row] = [*graph, *_reflections(draw, entities, graph)]
    if episodes:
        rows += _episodes(draw, range(201, 201 + episodes))
    rows += _company(draw, range(1, entities + 1))
    numbers = FileNumbers()
    return [renumbered(row, numbers, numbers) for row in rows]


def _graph(draw: st.DrawFn, ids: Sequence[int]) -> list[Row]:
    names = draw(st.lists(NAMES, min_size=3 * len(ids), max_size=3 * len(ids), unique=True))
    entities = [_entity(draw, number, names[3 * place : 3 * place + 3]) for place, number in enumerate(ids)]
    observations = draw(st.lists(_observation(ids), max_size=5))
    # An observation replaces one that stands before or behind it.
    numbered = [
        Observation(
            101 + place,
            row.entity_id,
            row.content,
            row.kind,
            draw(st.none() | st.integers(101, 100 + len(observations))),
            row.superseded_at,
            row.similarity_flag,
            row.created_at,
        )
        for place, row in enumerate(observations)
    ]
    return [*entities, *numbered, *_edges(draw, ids)]


def _entity(draw: st.DrawFn, number: int, names: Sequence[str]) -> WholeEntity:
    former = sorted(
        (FormerName(name, draw(instants)) for name in names[1:] if draw(st.booleans())),
        key=lambda each: (each.since, each.name),
    )
    days = draw(st.dictionaries(st.integers(0, 30_000), st.integers(1, 9), max_size=3))
    use = Use(draw(st.integers(1, 99)), draw(instants), tuple(sorted(days.items()))) if draw(st.booleans()) else None
    entity = Entity(number, names[0], draw(texts), draw(texts), draw(instants), draw(instants))
    return WholeEntity(entity, tuple(former), use)


def _observation(ids: Sequence[int]) -> st.SearchStrategy[Observation]:
    kinds = st.sampled_from([DEFAULT_KIND, "decision", "ñ"])
    return st.builds(
        Observation,
        id=st.just(0),
        entity_id=st.sampled_from(ids),
        content=texts,
        kind=kinds,
        supersedes=st.none(),
        superseded_at=maybe_instants,
        similarity_flag=st.booleans(),
        created_at=instants,
    )


def _edges(draw: st.DrawFn, ids: Sequence[int]) -> list[Edge]:
    rows: list[Edge] = []
    open_ended: set[tuple[object, ...]] = set()
    for place in range(draw(st.integers(0, 5))):
        target = draw(st.none() | st.sampled_from(ids))
        value = draw(scalars) if target is None else None
        subject, predicate = draw(st.sampled_from(ids)), draw(st.sampled_from(["vive_en", "tiene", "edad"]))
        triple = (subject, predicate, target, type(value), repr(value))
        ended_at = draw(instants if triple in open_ended else maybe_instants)
        open_ended |= {triple} if ended_at is None else set()
        rows.append(
            Edge(
                id=151 + place,
                subject_id=subject,
                subject="",
                predicate=predicate,
                object_id=target,
                object=None,
                value=value,
                context=draw(st.none() | texts),
                source=draw(st.none() | texts),
                confidence=draw(shares),
                active=ended_at is None,
                created_at=draw(instants),
                valid_from=draw(maybe_instants),
                ended_at=ended_at,
            )
        )
    return rows


def _reflections(draw: st.DrawFn, entities: int, graph: Sequence[Row]) -> list[Reflection]:
    edges = [row.id for row in graph if isinstance(row, Edge)]
    targets: list[tuple[str, int | None]] = [("global", None), ("session", 7), ("session", None)]
    targets += [("entity", 1)] if entities else []
    targets += [("relation", edges[0])] if edges else []
    rows: list[Reflection] = []
    for _ in range(draw(st.integers(0, 3))):
        kind, target = draw(st.sampled_from(targets))
        former = draw(st.none() | texts) if kind == "global" else None
        author, mood = draw(texts), draw(st.none() | texts)
        rows.append(Reflection(0, kind, target, author, draw(texts), mood, draw(instants), former))
    return rows


def _episodes(draw: st.DrawFn, ids: Sequence[int]) -> list[Row]:
    rows: list[Row] = [_episode(draw, number, ids) for number in ids]
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids)).filter(lambda pair: pair[0] != pair[1])
    if len(ids) < 2:
        return rows
    joins = draw(st.lists(st.tuples(pairs, st.sampled_from(["similar", "contradicts"])), max_size=4, unique=True))
    links = [_link(draw, 301 + place, *pair, kind) for place, (pair, kind) in enumerate(joins)]
    merges = [_merge(draw, draw(pairs), links) for _ in range(draw(st.integers(0, 2)))]
    return [*rows, *links, *merges]


def _episode(draw: st.DrawFn, number: int, ids: Sequence[int]) -> WholeEpisode:
    other = st.none() | st.sampled_from([each for each in ids if each != number] or [None])
    categories = st.lists(filled, max_size=2).map(tuple)
    versions = tuple(
        EpisodeVersion(
            number,
            version,
            draw(texts),
            draw(texts),
            draw(texts),
            draw(texts),
            draw(categories),
            draw(st.sampled_from(NIVELES)),
            draw(st.booleans()),
            draw(maybe_instants),
            draw(instants),
        )
        for version in range(1, 1 + draw(st.integers(0, 2)))
    )
    episode = Episode(
        id=number,
        session_id=draw(texts),
        content=draw(filled),
        memory_type=draw(texts),
        code=draw(texts),
        nivel=draw(st.sampled_from(NIVELES)),
        critico=draw(st.booleans()),
        created_at=draw(instants),
        updated_at=draw(instants),
        expires_at=draw(maybe_instants),
        used_count=draw(st.integers(0, 9)),
        last_used_at=draw(maybe_instants),
        consolidated_at=draw(maybe_instants),
        degraded_at=draw(maybe_instants),
        degraded_reason=draw(st.none() | texts),
        archived_at=draw(maybe_instants),
        archived_reason=draw(st.none() | texts),
        possible_duplicate_of=draw(other),
        superseded_by=draw(other),
        merged_into=draw(other),
        categories=draw(categories),
    )
    return WholeEpisode(episode, versions, draw(st.none() | st.booleans()))


def _link(draw: st.DrawFn, number: int, source: int, target: int, kind: str) -> EpisodeLink:
    details = draw(st.none() | st.sampled_from(['{"auto": true}', '{"confidence": 0.5, "differs_in": ["number"]}']))
    return EpisodeLink(number, source, target, kind, draw(shares), draw(instants), draw(maybe_instants), details)


def _merge(draw: st.DrawFn, pair: tuple[int, int], links: Sequence[EpisodeLink]) -> Merge:
    gone = EpisodeLink(LOST, pair[0], LOST + 1, "similar", 1.0, 5, None, None)
    moved = tuple(
        Moved(link, draw(st.none() | st.just((link.source_id, LOST + 2))))
        for link in [*links, gone]
        if draw(st.booleans())
    )
    record = MergeRecord(moved, tuple(draw(st.lists(filled, max_size=2))), draw(st.none() | st.just(pair[0])))
    return Merge(0, *pair, draw(instants), draw(maybe_instants), written(record))


def _company(draw: st.DrawFn, ids: Sequence[int]) -> list[CoOccurrence]:
    pairs = [(first, second) for first in ids for second in ids if first < second]
    return [CoOccurrence(*pair, draw(st.integers(1, 9)), draw(instants)) for pair in pairs if draw(st.booleans())]
