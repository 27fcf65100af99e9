"""What recalling and walking cost among many facts. `python -m bench.facts [facts]`; CPU ms a call, as JSON.

100,000 facts over 20,000 entities, with hubs of degree 10,000, and a complete graph of 200 entities beside them. No
vectors: they play no part in what is measured, but for `topic`, which is by words. The whole process's CPU time is
counted. The first call reads the table of edges, the first topic the index of documents; they are shown apart.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.budgets import Budget
from evoca.domain.graph import NewEdge, NewEntity
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings
from evoca.storage.contract import Session

ENTITIES = 20_000
HUBS = 5
HUB_DEGREE = 10_000
CLIQUE = 200
PREDICATES = ("conoce", "works_with", "visita", "has_skill", "le_gusta", "cites", "usa", "owns")
BATCH = 5_000
ROUNDS = 200
_TOOLS = {operation.name: operation for operation in CATALOGUE}


def fill(opened: Runtime, facts: int) -> None:
    """Hubs first, then facts between entities drawn at random, a tenth of them literals."""
    chance = random.Random(5)
    collection = opened.services().collection
    names = [f"user:u{number}" for number in range(ENTITIES)] + [f"node:n{number}" for number in range(CLIQUE)]
    entities: list[int] = []
    for begin in range(0, len(names), BATCH):
        rows = [NewEntity(name, name.split(":")[0]) for name in names[begin : begin + BATCH]]
        entities += opened.store.write(lambda session, rows=rows: session.entities.insert(collection, rows, 1))
    people, clique = entities[:ENTITIES], entities[ENTITIES:]
    edges: dict[tuple[int, str, int | str], NewEdge] = {
        (people[hub], "follows", other): NewEdge(people[hub], "follows", other)
        for hub in range(HUBS)
        for other in chance.sample(people[HUBS:], HUB_DEGREE)
    }
    while len(edges) < facts:
        subject, predicate = chance.choice(people), chance.choice(PREDICATES)
        if chance.random() < 0.1:
            value = f"{chance.randrange(1_000)} puntos"
            edges.setdefault((subject, predicate, value), NewEdge(subject, predicate, value=value))
        else:
            other = chance.choice(people)
            edges.setdefault((subject, predicate, other), NewEdge(subject, predicate, other))
    rows = [*edges.values(), *(NewEdge(one, "linked", other) for one in clique for other in clique if one != other)]
    for begin in range(0, len(rows), BATCH):

        def work(session: Session, batch: list[NewEdge] = rows[begin : begin + BATCH]) -> None:
            session.facts.insert(collection, batch, 2)

        opened.store.write(work)


def cpu_of(work: Callable[[int], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """CPU milliseconds a call: the median and the 95th percentile."""
    spent: list[float] = []
    for number in range(rounds):
        began = time.process_time()
        work(number)
        spent.append((time.process_time() - began) * 1000)
    return round(statistics.median(spent), 3), round(sorted(spent)[int(rounds * 0.95)], 3)


def measure(opened: Runtime) -> dict[str, tuple[float, float]]:
    def call(name: str, **given: object) -> Mapping[str, object]:
        return opened.call(_TOOLS[name], given)

    def ordinary(number: int) -> str:
        return f"user:u{HUBS + number * 97 % (ENTITIES - HUBS)}"

    def hub(number: int) -> str:
        return f"user:u{number % HUBS}"

    found: dict[str, tuple[float, float]] = {}
    found["first call"] = cpu_of(lambda _: call("recall", query=ordinary(0)), 1)
    found["first topic"] = cpu_of(lambda _: call("recall", query="quién tiene 1 puntos"), 1)
    found["recall entity"] = cpu_of(lambda number: call("recall", query=ordinary(number)))
    found["recall entity, direct only"] = cpu_of(lambda number: call("recall", query=ordinary(number), depth=0))
    found["recall hub"] = cpu_of(lambda number: call("recall", query=hub(number)))
    found["recall entity, predicate"] = cpu_of(
        lambda number: call("recall", query=ordinary(number), predicates=["conoce", "usa"])
    )
    found["recall entity, sorted"] = cpu_of(
        lambda number: call("recall", query=ordinary(number), sort_by="created_at", sort_order="desc")
    )
    found["recall hub, sorted"] = cpu_of(lambda number: call("recall", query=hub(number), sort_by="object"), 20)
    found["recall predicate, sorted"] = cpu_of(lambda _: call("recall", predicate="conoce", sort_by="id"), 20)
    found["recall topic"] = cpu_of(lambda number: call("recall", query=f"quién tiene {number * 5} puntos"), 20)
    found["recall fuzzy"] = cpu_of(lambda number: call("recall", query=f"usr u{number * 31}", fuzzy_match=True), 50)
    found["suggestions"] = cpu_of(lambda number: call("recall", query=f"usre:u{number * 31}"), 50)
    for depth in (1, 2, 3, 5):
        found[f"connections, depth {depth}"] = cpu_of(
            lambda number, depth=depth: call("recall_connections", entity=ordinary(number), depth=depth)
        )
    found["connections of a hub, depth 2"] = cpu_of(lambda number: call("recall_connections", entity=hub(number)))
    found["connections, complete graph of 200, depth 5"] = cpu_of(
        lambda number: call("recall_connections", entity=f"node:n{number}", depth=5), 50
    )
    found["path"] = cpu_of(lambda number: call("find_path", **{"from": ordinary(number), "to": ordinary(number + 3)}))
    found["remember"] = cpu_of(
        lambda number: call("remember", subject=ordinary(number), predicate="estrena", object=f"cosa:{number}")
    )
    found["remember, single-valued"] = cpu_of(
        lambda number: call("remember", subject=ordinary(1), predicate="vive_en", object=f"sitio:{number}")
    )
    found["remember and recall"] = cpu_of(
        lambda number: (
            call("remember", subject=ordinary(number), predicate="renueva", object=f"cosa:{number}"),
            call("recall", query=ordinary(number)),
        )
    )
    rows = [
        {"subject": ordinary(number), "predicate": "prueba", "object": ordinary(number + 9)} for number in range(100)
    ]
    found["remember_many, 100"] = cpu_of(
        lambda number: call("remember_many", facts=[{**row, "predicate": f"prueba_{number}"} for row in rows]), 10
    )
    return found


def budgets(found: Mapping[str, tuple[float, float]]) -> tuple[Budget, ...]:
    clique = "connections, complete graph of 200, depth 5"
    return (
        Budget("recall by entity, p50", found["recall entity"][0], "ms CPU", most=3),
        Budget("recall_connections, depth 2", found["connections, depth 2"][0], "ms CPU", most=20),
        Budget("recall_connections of a hub, depth 2", found["connections of a hub, depth 2"][0], "ms CPU", most=20),
        Budget("depth 5 on a complete graph of 200", found[clique][0], "ms CPU", most=200),
    )


def main() -> None:
    facts = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(store=str(Path(folder) / "m.db"), embedder="none", indexer=False, track=False)
        opened = Runtime(settings)
        fill(opened, facts)
        found = measure(opened)
        opened.close()
    print(json.dumps({"facts": facts, "p50 and p95, ms": found}, indent=2))
    for budget in budgets(found):
        print(budget.line)


if __name__ == "__main__":
    main()
