"""The same operations in the same order give the same answers, whichever engine keeps the memory.

Ids may differ (PostgreSQL leaves gaps), so each is told by the order in which it was first seen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evoca.domain.clock import HOUR, FrozenClock, from_iso
from evoca.errors import EvocaError
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings
from evoca.storage import open_store
from tests.support.engines import ENGINES, Servers

EXAMPLES = 300 if os.environ.get("EVOCA_PROVE") else 30
OPERATIONS = {operation.name: operation for operation in CATALOGUE}
OF_THE_PLACE = {"store", "bytes", "size", "next_cursor", "cursor"}
"""What a reply says about where the memory is, or wraps up for the next call."""
_ID = re.compile(r"(^|_)ids?$|Ids?$|_(of|by|into)$|^(supersedes|survivor|merged|nodes|path|merge)$")
_ID_IN_TEXT = re.compile(r"(?<=id=)\d+|(?<=id )\d+|(?<=#)\d+|(?<=\[)\d+(?=\])")

Step = tuple[str, dict[str, object]]


@dataclass(frozen=True)
class Seen:
    """The `place`th id that was seen, counted round."""

    place: int


@dataclass
class Engine:
    """One memory, and the ids that it has shown."""

    runtime: Runtime
    clock: FrozenClock
    ids: list[int] = field(default_factory=list[int])

    def do(self, step: Step) -> object:
        name, arguments = step
        self.clock.advance(HOUR)
        given = {key: self._real(value) for key, value in arguments.items()}
        try:
            return self._told(dict(self.runtime.call(OPERATIONS[name], given)))
        except EvocaError as error:
            return (type(error).__name__, re.sub(r"\d+", "#", error.message))

    def _real(self, value: object) -> object:
        if isinstance(value, Seen):
            return self.ids[value.place % len(self.ids)] if self.ids else 1
        return value

    def _told(self, value: object, key: str = "") -> object:
        match value:
            case bool():
                return value
            case int() if _ID.search(key) and value > 0:
                if value not in self.ids:
                    self.ids.append(value)
                return f"id {self.ids.index(value)}"
            case Mapping():
                told = cast(Mapping[str, object], value)
                return {name: self._told(each, name) for name, each in told.items() if name not in OF_THE_PLACE}
            case list() | tuple():
                return [self._told(each, key) for each in cast(list[object], value)]
            case str():
                return _ID_IN_TEXT.sub("_", value)
            case _:
                return value


NAMES = st.sampled_from(["Ana", "Bea", "ana", "Lucía", "Évora", "persona:Caño", "Zoë", "猫", "a_b", "100%"])
TYPES = st.sampled_from(["Generic", "Persona", "persona", "Lugo"])
WORDS = [
    "vive en Lugo",
    "vive en lugo",
    "Lives in Évora",
    "50% de a_b",
    "no bebe café",
    "bebe café",
    "",
    "猫と犬",
    'O\'Hara \\ "x"',
]
TEXTS = st.sampled_from(WORDS) | st.text("aá%_'\" \\lñ", max_size=6)
PREDICATES = st.sampled_from(["conoce", "vive_en", "contiene", "parte_de", "Trabaja en"])
QUERIES = st.sampled_from(["lugo", "Évora", "café", "a_b", "%", "_", "ana", "猫", "x", "vive beb", "\\"])
IDS = st.builds(Seen, st.integers(0, 60))
TIMES = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T05:00:00Z", "2026-01-03T00:00:00Z", "2025-06-01"])
LEVELS = st.sampled_from(["trabajo", "episodico", "semantico"])
CODES = st.sampled_from(["default", "casa"])
SOME = st.integers(1, 5)


def step(
    operation: str, /, _options: dict[str, st.SearchStrategy[object]] | None = None, **needed: object
) -> st.SearchStrategy[Step]:
    parts = {key: cast(st.SearchStrategy[object], value) for key, value in needed.items()}
    return st.fixed_dictionaries(parts, optional=_options or {}).map(lambda arguments: (operation, arguments))


def path(ends: Mapping[str, object]) -> Step:
    return ("find_path", dict(ends))


def lists(item: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(item, min_size=1, max_size=3)


ENTITY = st.fixed_dictionaries({"name": NAMES, "entityType": TYPES, "observations": st.lists(TEXTS, max_size=3)})
RELATION = st.fixed_dictionaries({"from": NAMES, "to": NAMES, "relationType": PREDICATES})
OBJECT = st.one_of(
    st.fixed_dictionaries({"object": NAMES}),
    st.fixed_dictionaries({"value": TEXTS | st.integers(-3, 3) | st.booleans() | st.sampled_from([1.5, "1", "true"])}),
)


def fact(base: dict[str, object], what: dict[str, object]) -> Step:
    return ("remember", {**base, **what})


FACT = st.builds(
    fact,
    st.fixed_dictionaries(
        {"subject": cast(st.SearchStrategy[object], NAMES), "predicate": cast(st.SearchStrategy[object], PREDICATES)},
        optional={"valid_from": cast(st.SearchStrategy[object], TIMES)},
    ),
    OBJECT,
)
STEPS = st.one_of(
    step("create_entities", entities=lists(ENTITY)),
    step("create_entities", entities=lists(ENTITY)),
    step("create_relations", relations=lists(RELATION)),
    step("add_observations", name=NAMES, observations=lists(TEXTS)),
    step("delete_entities", entityNames=lists(NAMES)),
    step("delete_observations", name=NAMES, observations=lists(TEXTS)),
    step("delete_relations", relations=lists(RELATION)),
    step("rename_entity", name=NAMES, new_name=NAMES),
    step("merge_entities", sources=lists(NAMES), target=NAMES),
    step("update_observation", observation_id=IDS, content=TEXTS),
    step("read_graph"),
    step("open_nodes", {"details": st.booleans(), "include_superseded": st.booleans()}, names=lists(NAMES)),
    step("search_nodes", {"limit": SOME, "offset": SOME}, query=QUERIES),
    step("add_reflection", target_type=st.just("entity"), target_name=NAMES, content=TEXTS),
    step("search_reflections", query=QUERIES),
    step("memory_status"),
    step("consolidation_report"),
    step(
        "save_hipocampo",
        {"session_id": st.sampled_from(["s1", "s2"]), "nivel": LEVELS, "categories": lists(TEXTS)},
        content=TEXTS,
    ),
    step("save_hipocampo", content=TEXTS),
    step("update_hipocampo", {"content": TEXTS, "critico": st.booleans()}, id=IDS),
    step("get_hipocampo", id=IDS),
    step("delete_hipocampo", id=IDS, force=st.booleans()),
    step("search_hipocampo", {"nivel": LEVELS, "limit": SOME}, query=QUERIES),
    step("link_hipocampo", source_id=IDS, target_id=IDS),
    step("graph_hipocampo"),
    step("hipocampo_dedup"),
    step("hipocampo_stats"),
    FACT,
    FACT,
    step(
        "recall",
        {"predicate": PREDICATES, "as_of": TIMES, "include_ended": st.booleans(), "limit": SOME},
        query=QUERIES,
    ),
    step(
        "recall",
        {
            "sort_by": st.sampled_from(["created_at", "predicate", "subject", "object", "confidence", "id"]),
            "sort_order": st.sampled_from(["asc", "desc"]),
            "entity_type": TYPES,
            "include_ended": st.booleans(),
            "offset": SOME,
        },
        related_to=NAMES,
    ),
    step("recall_connections", {"direction": st.sampled_from(["both", "in", "out"]), "depth": SOME}, entity=NAMES),
    st.fixed_dictionaries({"from": NAMES, "to": NAMES}).map(path),
    step("predicates"),
    step("update_fact", {"new_object": NAMES, "ended_at": TIMES}, id=IDS),
    step("forget", id=IDS),
    step("forget_entity", entity=NAMES, confirm=st.booleans()),
    step("create_collection", code=CODES),
    step("list_collections"),
    step("delete_collection", code=CODES, confirm=st.booleans()),
)
ELSEWHERE = st.booleans().map(lambda there: {"collection": "casa"} if there else {})
WITHOUT_COLLECTION = {"create_collection", "list_collections", "delete_collection"}


def placed(made: Step, where: dict[str, object]) -> Step:
    name, arguments = made
    return (name, arguments if name in WITHOUT_COLLECTION else {**arguments, **where})


LIVES = st.lists(st.builds(placed, STEPS, st.one_of(st.just({}), st.just({}), ELSEWHERE)), min_size=5, max_size=40)


def test_the_same_life_gives_the_same_answers_on_every_engine(servers: Servers) -> None:
    # Shrinking would take minutes; the step that differs is told.
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
    @given(LIVES)
    def live(life: list[Step]) -> None:
        with ExitStack() as stack:
            engines = {name: stack.enter_context(_started(name, servers)) for name in ENGINES}
            for number, made in enumerate(life):
                told = {name: engine.do(made) for name, engine in engines.items()}
                for name in ENGINES[1:]:
                    assert told[name] == told[ENGINES[0]], f"step {number}, {made}, on {name}"

    live()


class _started:  # noqa: N801 -- a context manager
    def __init__(self, name: str, servers: Servers) -> None:
        self._name, self._servers = name, servers
        self._stack = ExitStack()

    def __enter__(self) -> Engine:
        folder = Path(self._stack.enter_context(TemporaryDirectory()))
        place = self._stack.enter_context(self._servers.place(self._name, folder))
        open_store(place, FrozenClock(1_000_000)).close()
        clock = FrozenClock(from_iso("2026-01-01T00:00:00Z"))
        options = load_settings(store=place, embedder="none", indexer=False, track=False, catch_up=0)
        runtime = self._stack.enter_context(closing(Runtime(options, clock)))
        return Engine(runtime, clock)

    def __exit__(self, *_: object) -> None:
        self._stack.close()
