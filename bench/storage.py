"""What the store costs by itself: ingest, points, reads, size on disk. `python bench/storage.py [entities]`."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from evoca.domain.clock import SystemClock
from evoca.domain.graph import NewEdge, NewEntity, NewObservation
from evoca.storage import open_store
from evoca.storage.contract import Session, Store

BATCH = 50
OBSERVATIONS = 5
LETTERS = 90


class Texts:
    """Deterministic prose: made-up words, as frequent and as long as in Spanish and English text."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        onsets = "b c d f g h j l m n p r s t v z br cl cr dr fr gr pl pr tr qu ch ll".split()
        codas = ["", "", "", "n", "r", "s", "l", "d"]
        make = self._random.choice
        syllables = [onset + vowel + coda for onset in onsets for vowel in "aeiou" for coda in codas]
        words = {"".join(make(syllables) for _ in range(make([1, 1, 2, 2, 3, 3, 4]))) for _ in range(20_000)}
        self._words = sorted(words)
        self._random.shuffle(self._words)
        self._weights = [1 / (rank + 3) for rank in range(len(self._words))]
        self._drawn: list[str] = []

    def sentence(self, letters: int = LETTERS) -> str:
        length, picked = 0, list[str]()
        while length < letters:
            picked.append(self._word())
            length += len(picked[-1]) + 1
        return " ".join(picked).capitalize() + "."

    def name(self, number: int) -> str:
        return f"{self._word().capitalize()} {self._word().capitalize()} {number}"

    def _word(self) -> str:
        if not self._drawn:
            self._drawn = self._random.choices(self._words, self._weights, k=10_000)
        return self._drawn.pop()


def measure(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Milliseconds of CPU and of wall clock for one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        work()
    return (time.process_time() - cpu) / times * 1e3, (time.perf_counter() - wall) / times * 1e3


def fill(store: Store, texts: Texts, entities: int) -> dict[str, float]:
    collection = store.read(lambda session: session.collections.find("default"))
    assert collection is not None
    batches = [
        [(texts.name(first + i), [texts.sentence() for _ in range(OBSERVATIONS)]) for i in range(BATCH)]
        for first in range(0, entities, BATCH)
    ]
    ids: list[int] = []
    cpu, began = time.process_time(), time.perf_counter()
    for batch in batches:

        def work(session: Session, batch: list[tuple[str, list[str]]] = batch) -> list[int]:
            session.entities.by_names(collection.id, [name for name, _ in batch])
            made = session.entities.insert(collection.id, [NewEntity(name, "Proyecto") for name, _ in batch], 1)
            rows = [
                NewObservation(entity, text) for entity, (_, texts) in zip(made, batch, strict=True) for text in texts
            ]
            session.observations.insert(collection.id, rows, 1)
            session.collections.bump(collection.id)
            return made

        ids += store.write(work)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    generator = random.Random(2)
    edges = list({(generator.choice(ids), "conoce", generator.choice(ids)) for _ in range(entities)})
    began = time.perf_counter()
    for first in range(0, len(edges), BATCH):
        part = edges[first : first + BATCH]

        def relate(session: Session, part: list[tuple[int, str, int]] = part) -> None:
            session.edges.active(collection.id, part)
            session.edges.insert(collection.id, [NewEdge(*each) for each in part], 1)

        store.write(relate)
    return {
        "entities_per_second": entities / seconds,
        "cpu_ms_per_entity": cpu / entities * 1e3,
        "relations_per_second": len(edges) / (time.perf_counter() - began),
    }


def points(store: Store, texts: Texts, entities: int) -> dict[str, tuple[float, float]]:
    """Calls as a server makes them: (CPU ms, wall ms)."""
    number = entities

    def create(session: Session) -> None:
        nonlocal number
        number += 1
        made = session.entities.insert(1, [NewEntity(texts.name(number), "Proyecto")], 1)
        session.observations.insert(1, [NewObservation(made[0], texts.sentence()) for _ in range(OBSERVATIONS)], 1)
        session.collections.bump(1)

    some = store.read(lambda session: session.entities.page(1, entities // 2, 5))
    names = [entity.name for entity in some]

    def add(session: Session) -> None:
        session.observations.find(some[0].id, [text := texts.sentence()])
        session.observations.insert(1, [NewObservation(some[0].id, text)], 1)

    def open_five(session: Session) -> None:
        found = session.entities.by_names(1, names)
        ids = [entity.id for entity in found.values()]
        session.observations.texts_of(ids)
        session.edges.touching(ids)

    def victims(session: Session) -> None:
        session.entities.delete([session.entities.page(1, 10, 1)[0].id])

    word = store.read(lambda session: session.observations.texts_of([some[0].id])[some[0].id][0].split()[0])
    return {
        "create entity + 5": measure(lambda: store.write(create), 200),
        "add observation": measure(lambda: store.write(add), 200),
        "open 5 names": measure(lambda: store.read(open_five), 300),
        "substring rare": measure(lambda: store.read(lambda s: s.substrings.entities(1, names[0][-14:])), 100),
        "substring common": measure(lambda: store.read(lambda s: s.substrings.entities(1, word[:4])), 5),
        "postings common": measure(lambda: store.read(lambda s: s.documents.postings(1, [["proyect"]])), 20),
        "delete entity": measure(lambda: store.write(victims), 100),
    }


def main() -> None:
    entities = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    texts = Texts()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        store = open_store(path, SystemClock())
        report: dict[str, object] = dict(fill(store, texts, entities))
        store.close()
        report["bytes_per_entity"] = path.stat().st_size / entities
        store = open_store(path, SystemClock())
        for name, (cpu, wall) in points(store, texts, entities).items():
            report[name] = {"cpu_ms": round(cpu, 3), "wall_ms": round(wall, 3)}
        store.close()
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
