"""What looking after a large graph costs. `python -m bench.upkeep [entities]`; CPU seconds of one process, as JSON.

10,000 entities with 50,000 observations, of which some hundred are above their thresholds; duplicates are sought in
an entity of 1,000 observations whose vectors stand in the store; the indexer's share is what flags cost it.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.corpus import KINDS, name_of, sentence
from evoca.domain.clock import DAY, SystemClock
from evoca.domain.graph import NewEntity, NewObservation
from evoca.retrieval.embedders import load_embedder
from evoca.retrieval.index import pack_vectors
from evoca.runtime import Runtime
from evoca.services.duplicates import Thresholds, flag_similar
from evoca.settings import load_settings
from evoca.storage.contract import NewVector, Session

CROWDED = 0.02
"""The share of entities above their thresholds."""
CROWD = 60
OBSERVATIONS = 5
GIANT = 5_100
"""Observations of the one entity that is added for a second look at what is above its threshold."""
DUPLICATES = 1_000
BATCH = 8
DIM = 384


def cpu(work: Callable[[], object], times: int = 3) -> float:
    """The median of some runs."""
    taken: list[float] = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return round(sorted(taken)[times // 2], 3)


def sizes(entities: int) -> list[int]:
    crowded = int(entities * CROWDED)
    rest = OBSERVATIONS * entities - crowded * CROWD
    small = [rest // (entities - crowded)] * (entities - crowded)
    for at in range(rest - sum(small)):
        small[at] += 1
    return [CROWD] * crowded + small


def fill(opened: Runtime, entities: int) -> None:
    chance = random.Random(7)
    collection = opened.services().collection
    counts = sizes(entities)
    chance.shuffle(counts)
    for begin in range(0, entities, 500):

        def work(session: Session, begin: int = begin) -> None:
            part = range(begin, min(begin + 500, entities))
            rows = [NewEntity(name_of(number), KINDS[number % len(KINDS)]) for number in part]
            ids = session.entities.insert(collection, rows, SystemClock().now() - (number_of_days(begin) * DAY))
            texts = [
                NewObservation(entity, f"{sentence(chance)}, {at}")
                for entity, number in zip(ids, part, strict=True)
                for at in range(counts[number])
            ]
            session.observations.insert(collection, texts, 1)

        opened.store.write(work)


def number_of_days(number: int) -> int:
    return number % 200


def grow(opened: Runtime, name: str) -> None:
    """An entity of very many observations."""
    chance = random.Random(9)
    collection = opened.services().collection

    def work(session: Session) -> None:
        (entity,) = session.entities.insert(collection, [NewEntity(name)], 1)
        texts = [NewObservation(entity, f"{sentence(chance)}, {at}") for at in range(GIANT)]
        session.observations.insert(collection, texts, 1)

    opened.store.write(work)


def crowd(opened: Runtime, name: str, texts: list[str]) -> None:
    """An entity with these observations, and vectors for all of them."""
    embedder = load_embedder(f"hash:{DIM}")
    collection = opened.services().collection

    def work(session: Session) -> None:
        (entity,) = session.entities.insert(collection, [NewEntity(name)], 1)
        ids = session.observations.insert(collection, [NewObservation(entity, text) for text in texts], 1)
        session.documents.register_model(embedder.model_id, SystemClock().now())
        documents = session.documents.claim(embedder.model_id, 10**6, "bench", 1, 2)
        packed = pack_vectors(embedder.embed_passages([each.text for each in documents]))
        rows = [NewVector(each.id, each.content_hash, vector) for each, vector in zip(documents, packed, strict=True)]
        assert len(rows) >= len(ids)
        session.documents.store_vectors(embedder.model_id, rows)

    opened.store.write(work)


def flagging(opened: Runtime, name: str) -> None:
    """What a batch of the indexer adds to its transaction, in an entity of so many observations."""
    embedder = load_embedder(f"hash:{DIM}")
    collection = opened.services().collection

    def work(session: Session) -> None:
        entity = session.entities.by_names(collection, [name])[name]
        rows = session.observations.of([entity.id])[entity.id]
        flag_similar(session, embedder, [row.id for row in rows[-BATCH:]])

    opened.store.write(work)


def main() -> None:
    entities = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    chance = random.Random(8)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(store=str(Path(folder) / "m.db"), embedder="none", indexer=False)
        opened = Runtime(settings)
        fill(opened, entities)
        services = opened.services()
        collection = services.collection
        report = services.upkeep.report(collection, 90 * DAY)
        found: dict[str, object] = {
            "entities": report.entities,
            "observations": report.observations,
            "large": len(report.large),
            "consolidation_report": cpu(lambda: services.upkeep.report(collection, 90 * DAY)),
            "find_split_candidates": cpu(lambda: services.splitting.candidates(collection)),
        }
        grow(opened, f"{name_of(0)} y todo lo demás")
        found["find_split_candidates_giant"] = cpu(lambda: services.splitting.candidates(collection))
        opened.close()
        opened = Runtime(load_settings(store=str(Path(folder) / "d.db"), embedder=f"hash:{DIM}", indexer=False))
        services = opened.services()
        crowd(opened, "prose", [f"{sentence(chance)} {at}" for at in range(DUPLICATES)])
        crowd(opened, "copies", [f"copia de seguridad terminada sin errores {at}" for at in range(DUPLICATES)])
        for name in ("prose", "copies"):
            pairs = services.upkeep.duplicates(collection, name, Thresholds()).found
            found[f"duplicates_{name}_pairs"] = pairs
            found[f"find_duplicate_observations_{name}"] = cpu(
                lambda name=name: services.upkeep.duplicates(collection, name, Thresholds())
            )
            found[f"flags_of_a_batch_{name}"] = cpu(lambda name=name: flagging(opened, name))
        found["analyze_entity_split_1000"] = cpu(lambda: services.splitting.analyse(collection, "prose"))
        opened.close()
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
