"""Two keys, two collections, one store: nothing crosses.

A tenant's calls are answered as if the other did not exist: the same calls are made in a store where it does not, and
every answer must be the same, errors too. Ids come from the store's one sequence, so they may differ, but only as a
whole: each of one store stands for one of the other.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, cast

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evoca.domain.clock import DAY, FrozenClock, from_iso
from evoca.domain.tenancy import Caller, Scope
from evoca.errors import EvocaError, NotFound
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings
from tests.support.engines import POSTGRES, SQLITE, Servers

if TYPE_CHECKING:
    from evoca.storage.contract import Session
    from evoca.storage.repositories.session import RepositorySession

OPERATIONS = {operation.name: operation for operation in CATALOGUE}
FIRST_ID = 1_000_000
"""Ids begin here, so that a smaller number in an answer is a count or a year, which must be the same."""
NOBODY = 10**9
"""An id of the other tenant stands for itself and this where that tenant does not exist."""
NAMES = ("Faro", "faro", "Muelle", "Bahía", "type:faro")
TEXTS = (
    "El faro se enciende a las ocho",
    "El faro se enciende a las nueve",
    "el faro se enciende a las ocho ",
    "El muelle está cerrado",
    "El muelle ya no está cerrado",
    "Marta vive en Lugo",
)
DEADLINE = 30.0


@dataclass
class Picks:
    """What a step's arguments are made of: small numbers, and ids of the tenant's own or of the other's."""

    numbers: tuple[int, int, int]
    id: Callable[[int], int]

    @property
    def name(self) -> str:
        return NAMES[self.numbers[0] % len(NAMES)]

    @property
    def other_name(self) -> str:
        return NAMES[self.numbers[1] % len(NAMES)]

    @property
    def text(self) -> str:
        return TEXTS[self.numbers[2] % len(TEXTS)]

    @property
    def flag(self) -> bool:
        return self.numbers[2] % 2 == 0

    @property
    def one(self) -> int:
        return self.id(self.numbers[0])

    @property
    def two(self) -> int:
        return self.id(self.numbers[1])


def _fact(p: Picks) -> dict[str, object]:
    where = {"object": p.other_name} if p.flag else {"value": p.numbers[1]}
    return {"subject": p.name, "predicate": ("vive_en", "ve", "contiene")[p.numbers[0] % 3], **where}


def _relation(p: Picks) -> dict[str, object]:
    return {"from": p.name, "to": p.other_name, "relationType": ("ve", "contiene", "vive_en")[p.numbers[2] % 3]}


CALLS: Mapping[str, Callable[[Picks], Mapping[str, object]]] = {
    "create_entities": lambda p: {"entities": [{"name": p.name, "entityType": "Lugar", "observations": [p.text]}]},
    "create_relations": lambda p: {"relations": [_relation(p)]},
    "add_observations": lambda p: (
        {"name": p.name, "observations": [p.text]} | ({"supersedes": p.two} if p.flag else {})
    ),
    "delete_entities": lambda p: {"entityNames": [p.name]},
    "delete_observations": lambda p: {"name": p.name, "observations": [p.text]},
    "delete_relations": lambda p: {"relations": [_relation(p)]},
    "read_graph": lambda p: {"limit": 5, "offset": p.numbers[0] % 3},
    "search_nodes": lambda p: {"query": ("faro", "a", "")[p.numbers[0] % 3]},
    "open_nodes": lambda p: {"names": [p.name, p.other_name], "details": True, "include_ended": True},
    "search_semantic": lambda p: {"query": p.text, "track": p.flag, "explain": True},
    "migrate": lambda _p: {"source_path": "/nowhere.jsonl"},
    "analyze_entity_split": lambda p: {"entity_name": p.name},
    "propose_entity_split": lambda p: {"entity_name": p.name},
    "execute_entity_split": lambda p: {
        "entity_name": p.name,
        "approved_splits": [{"name": "Parte", "observations": [p.text]}],
    },
    "find_split_candidates": lambda _p: {},
    "find_duplicate_observations": lambda p: {"entity_name": p.name},
    "consolidation_report": lambda _p: {"stale_days": 1},
    "end_relation": lambda p: {"relation_id": p.one} if p.flag else _relation(p),
    "add_reflection": lambda p: (
        {"target_type": ("entity", "relation")[p.numbers[1] % 2], "target_id": p.one, "content": p.text}
        if p.flag
        else {"target_type": "entity", "target_name": p.name, "content": p.text}
    ),
    "search_reflections": lambda p: {"query": p.text},
    "rename_entity": lambda p: {"name": p.name, "new_name": p.other_name, "dry_run": p.flag},
    "merge_entities": lambda p: {"sources": [p.name], "target": p.other_name, "dry_run": p.flag},
    "update_observation": lambda p: {"observation_id": p.one, "content": p.text},
    "memory_status": lambda _p: {},
    "save_hipocampo": lambda p: {"content": p.text, "force": p.flag, "auto_link": True, "categories": [p.name]},
    "search_hipocampo": lambda p: {"query": p.text if p.flag else "", "include_archived": True},
    "get_hipocampo": lambda p: {"id": p.one},
    "update_hipocampo": lambda p: {"id": p.one, "content": p.text, "force": True},
    "delete_hipocampo": lambda p: {"id": p.one},
    "set_nivel_hipocampo": lambda p: {"id": p.one, "nivel": "permanente"},
    "compress_hipocampo": lambda p: {"query": p.text},
    "link_hipocampo": lambda p: {"source_id": p.one, "target_id": p.two},
    "unlink_hipocampo": lambda p: {"id": p.one} if p.flag else {"source_id": p.one, "target_id": p.two},
    "graph_hipocampo": lambda p: {"node_id": p.one} if p.flag else {},
    "path_hipocampo": lambda p: {"from_id": p.one, "to_id": p.two},
    "contradicciones_hipocampo": lambda p: {"memory_id": p.one} if p.flag else {},
    "consolidate_hipocampo": lambda p: {"min_age_days": 1, "dry_run": p.flag},
    "review_automatica": lambda p: {"max_age_days": 1, "dry_run": p.flag},
    "decay_hipocampo": lambda p: {"min_age_days": 1, "dry_run": p.flag},
    "restaurar_historica": lambda p: {"id": p.one},
    "hipocampo_dedup": lambda p: {"dry_run": p.flag},
    "undo_hipocampo_dedup": lambda p: {"id": p.one} if p.flag else {},
    "hipocampo_stats": lambda _p: {},
    "hipocampo_health": lambda _p: {},
    "remember": _fact,
    "remember_many": lambda p: {"facts": [_fact(p)]},
    "update_fact": lambda p: {"id": p.one, "context": p.text} if p.flag else {**_fact(p), "new_object": "Cabo"},
    "forget": lambda p: {"id": p.one} if p.flag else _fact(p),
    "forget_entity": lambda p: {"entity": p.name, "confirm": p.flag},
    "recall": lambda p: {"query": (p.name, p.text, "type:nada")[p.numbers[1] % 3], "fuzzy_match": p.flag},
    "recall_connections": lambda p: {"entity": p.name, "include_ended": p.flag},
    "find_path": lambda p: {"from": p.name, "to": p.other_name},
    "predicates": lambda _p: {},
    "create_collection": lambda p: {"code": ("nueva", "obra")[p.numbers[0] % 2]},
    "list_collections": lambda _p: {},
    "describe_collection": lambda p: {"code": ("casa", "obra", "nada")[p.numbers[0] % 3]},
    "delete_collection": lambda _p: {"code": "obra"},
}
PUT_IN = ("create_entities", "create_relations", "add_observations", "save_hipocampo", "add_reflection", "remember")
_NAMED = [name for name in CALLS if name in OPERATIONS]


@dataclass(frozen=True)
class Step:
    """`name`: an operation, or `wait` for a day. `strange`: ids are the other tenant's."""

    name: str
    numbers: tuple[int, int, int]
    strange: bool
    collection: str | None


NUMBERS = st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 11))
STEPS = st.builds(
    Step,
    st.sampled_from([*(name for name in PUT_IN if name in OPERATIONS for _ in range(6)), *_NAMED, "wait"]),
    NUMBERS,
    st.sampled_from([False, False, True]),
    st.sampled_from([None, None, None, "casa", "obra", "", "default", "nada"]),
)
BOTH = st.lists(st.tuples(st.booleans(), STEPS), min_size=10, max_size=40)


class Tenant:
    """A key for one collection, and the ids that it was told."""

    def __init__(self, house: House, code: str, places: Mapping[str, str]) -> None:
        """`places`: what the codes that steps name are called here."""
        self.house = house
        self.code = code
        self.places = places
        made = house.runtime.services().collections.create(house.owner, code, "", "")
        self.caller = Caller(made.id, Scope.WRITE, frozenset({made.id}))
        self.collection = made.id
        self.ids: list[int] = []

    def do(self, step: Step, ids: Callable[[int], int]) -> object:
        """The step's answer, or what was refused."""
        raw = dict(CALLS[step.name](Picks(step.numbers, ids)))
        if step.collection is not None and OPERATIONS[step.name].in_collection:
            raw["collection"] = self.places.get(step.collection, step.collection)
        if "code" in raw:
            raw["code"] = self.places.get(str(raw["code"]), raw["code"])
        try:
            answer: object = self.house.runtime.call(OPERATIONS[step.name], raw, self.caller)
        except EvocaError as error:
            answer = (type(error).__name__, error.message, error.hint)
        self.house.settle()
        self.ids += (number for number in _ids(answer) if number not in self.ids)
        return answer


class House:
    """An open store in which the clock moves only when told to."""

    def __init__(self, store: str, embedder: str) -> None:
        self.clock = FrozenClock(from_iso("2026-03-01T10:00:00Z"))
        settings = load_settings(store=store, embedder=embedder, indexer_rest=0, catch_up=10)
        self.runtime = Runtime(settings, clock=self.clock)
        self.owner = self.runtime.services().caller
        self.runtime.store.write(lambda s: cast("RepositorySession", s).ledger.take_ids(FIRST_ID))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.runtime.close()

    def settle(self) -> None:
        """Wait until what goes on in the background is done."""
        services = self.runtime.services()
        services.tracking.flush()
        if not services.embedding.wanted:
            return
        services.indexing.wake()
        model = services.embedding.load().model_id
        deadline = time.monotonic() + DEADLINE

        def waiting(session: Session) -> int:
            return session.documents.pending(None, model) + session.enrichments.pending(None)

        while self.runtime.store.read(waiting):
            assert time.monotonic() < deadline, "the indexer does not come to an end"
            time.sleep(0.001)


@dataclass
class Mapped:
    """Which id of one store stands for which of the other."""

    there: dict[int, int] = field(default_factory=dict[int, int])
    back: dict[int, int] = field(default_factory=dict[int, int])

    def same(self, one: int, other: int) -> bool:
        if one < FIRST_ID or other < FIRST_ID:
            return one == other
        return self.there.setdefault(one, other) == other and self.back.setdefault(other, one) == one


def _ids(value: object) -> Iterator[int]:
    match value:
        case bool():
            return
        case int():
            if FIRST_ID <= value < NOBODY:
                yield value
        case dict():
            for each in cast("dict[str, object]", value).values():
                yield from _ids(each)
        case list():
            for each in cast("list[object]", value):
                yield from _ids(each)
        case _:
            return


def differences(one: object, other: object, mapped: Mapped, path: str = "") -> list[str]:
    """Where two answers differ, ids apart."""
    match one, other:
        case dict(), dict():
            first, second = cast("dict[str, object]", one), cast("dict[str, object]", other)
            if list(first) != list(second):
                return [f"{path}: keys {list(first)} and {list(second)}"]
            return [each for key in first for each in differences(first[key], second[key], mapped, f"{path}.{key}")]
        case ((list() | tuple()), (list() | tuple())):
            many, others = cast("list[object]", one), cast("list[object]", other)
            if len(many) != len(others):
                return [f"{path}: {many} and {others}"]
            return [
                each
                for index, pair in enumerate(zip(many, others, strict=True))
                for each in differences(*pair, mapped, f"{path}[{index}]")
            ]
        case str(), str():
            return _differing_texts(one, other, mapped, path)
        case bool(), bool():
            return [] if one == other else [f"{path}: {one} and {other}"]
        case int(), int():
            return [] if mapped.same(one, other) else [f"{path}: {one} and {other}"]
        case float(), float():
            return [] if one == pytest.approx(other, abs=1e-6) else [f"{path}: {one} and {other}"]
        case _:
            return [] if one == other else [f"{path}: {one!r} and {other!r}"]


_UNLIKE = re.compile(r"\b(casa|obra)\d+\b|\b\d+ MB libres")
"""What the two stores' texts may differ in: the numbers behind codes, and the space left on the disk."""


def _differing_texts(one: str, other: str, mapped: Mapped, path: str) -> list[str]:
    """Texts are the same but for the ids that stand in them."""
    if path.endswith(".state"):
        return []
    pieces = [re.split(r"(\d{7,})", _UNLIKE.sub(r"\1", text)) for text in (one, other)]
    same = len(pieces[0]) == len(pieces[1]) and all(
        mapped.same(int(first), int(second)) if index % 2 else first == second
        for index, (first, second) in enumerate(zip(*pieces, strict=True))
    )
    return [] if same else [f"{path}: {one!r} and {other!r}"]


@dataclass
class Houses:
    shared: House
    alone: House
    count: int = 0


KINDS = [("none", SQLITE), ("hash:32", SQLITE), ("none", POSTGRES)]


@pytest.fixture(scope="module", params=KINDS, ids="-".join)
def houses(
    request: pytest.FixtureRequest, servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Houses]:
    """One with two tenants, one with the first of them only; each example has collections of its own."""
    embedder, engine = cast("tuple[str, str]", request.param)
    with ExitStack() as stack:
        places = [stack.enter_context(servers.place(engine, tmp_path_factory.mktemp("isolation"))) for _ in range(2)]
        shared, alone = (stack.enter_context(House(place, embedder)) for place in places)
        yield Houses(shared, alone)


class Trial:
    """The first tenant in both houses, the second in one of them."""

    def __init__(self, houses: Houses) -> None:
        houses.count += 1
        codes = {"casa": f"casa{houses.count}", "obra": f"obra{houses.count}"}
        self.houses = houses
        self.first = Tenant(houses.shared, codes["casa"], codes)
        self.second = Tenant(houses.shared, codes["obra"], codes)
        self.alone = Tenant(houses.alone, codes["casa"], codes)
        self.mapped = Mapped()

    def first_does(self, step: Step) -> list[str]:
        """The first tenant's step in both houses; where the answers differ."""

        ids = tuple(self.second.ids if step.strange else self.first.ids)

        def chosen(pick: int) -> int:
            return ids[pick % len(ids)] if ids else FIRST_ID

        def counterpart(pick: int) -> int:
            number = chosen(pick)
            if number == FIRST_ID:
                return number
            if step.strange:
                self.mapped.same(number, NOBODY + number)
            return self.mapped.there[number]

        answer = self.first.do(step, chosen)
        return differences(answer, self.alone.do(step, counterpart), self.mapped, step.name)

    def second_does(self, step: Step) -> None:
        """The other tenant's step, with ids of either; the first one's graph must not seem to change."""
        ids = self.first.ids if step.strange else self.second.ids
        runtime = self.houses.shared.runtime
        before = runtime.graph_version(self.first.caller)
        self.second.do(step, lambda pick: ids[pick % len(ids)] if ids else FIRST_ID)
        assert runtime.graph_version(self.first.caller) == before

    def wait(self) -> None:
        for house in (self.houses.shared, self.houses.alone):
            house.clock.advance(DAY)


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(BOTH)
def test_a_tenant_s_answers_are_as_if_there_were_no_other(houses: Houses, steps: list[tuple[bool, Step]]) -> None:
    trial = Trial(houses)
    for first, step in steps:
        if step.name == "wait":
            trial.wait()
        elif first:
            assert trial.first_does(step) == []
        else:
            trial.second_does(step)


def test_every_operation_is_answered_as_if_there_were_no_other(houses: Houses) -> None:
    """Both have told the same things; then each operation, with ids of one's own and with the other's."""
    told = [
        Step(each, (number, number + 2, number + 1), strange=False, collection=None)
        for each in PUT_IN
        if each in OPERATIONS
        for number in range(3)
    ]
    for name in _NAMED:
        trial = Trial(houses)
        for step in told:
            trial.second_does(step)
            assert trial.first_does(step) == []
        for pick, strange in ((0, False), (1, False), (2, False), (0, True), (1, True)):
            step = Step(name, (pick, pick + 1, pick), strange, collection=None)
            assert trial.first_does(step) == []
            trial.second_does(step)
        assert trial.first_does(Step("open_nodes", (0, 1, 0), strange=False, collection=None)) == []


def test_the_whole_catalogue_is_tried() -> None:
    assert set(OPERATIONS) <= set(CALLS)


def test_the_comparison_sees_what_differs() -> None:
    mapped = Mapped()
    assert differences({"id": 5_000_005, "of": [5_000_005, 7]}, {"id": 5_000_002, "of": [5_000_002, 7]}, mapped) == []
    for one, other in (
        ({"id": 5_000_005}, {"id": 5_000_003}),
        ({"count": 1}, {"count": 2}),
        ([1], [1, 2]),
        ({"a": "x"}, {"a": "y"}),
        ({"a": 1}, {"b": 1}),
        ("Entity with id=5000005 not found", "Entity with id=5000004 not found"),
        (1.5, 1.6),
        (True, False),
    ):
        assert differences(one, other, mapped) != [], (one, other)


def test_the_other_s_things_cannot_be_named(houses: Houses) -> None:
    trial = Trial(houses)
    operation = OPERATIONS["read_graph"]
    with pytest.raises(NotFound) as hidden:
        trial.houses.shared.runtime.call(operation, {"collection": trial.second.code}, trial.first.caller)
    with pytest.raises(NotFound) as missing:
        trial.houses.shared.runtime.call(operation, {"collection": "missing"}, trial.first.caller)
    assert hidden.value.message.replace(trial.second.code, "missing") == missing.value.message
    assert hidden.value.hint == missing.value.hint
    listed = trial.houses.shared.runtime.call(OPERATIONS["list_collections"], {}, trial.first.caller)
    assert [each["code"] for each in cast("list[dict[str, str]]", listed["collections"])] == [trial.first.code]
