"""What use teaches the ranking: `python -m bench.limbic [--seed N] [--json FILE]`. Reproducible, a minute or two.

A person works for 90 days with a memory of 40 topics of 10 entities each. What they ask about follows a Zipf
distribution whose favourites change every 30 days; a fifth of what they open is chance. Questions name a topic, not an
entity, so that by relevance alone the ten are near each other. After each third of the time the same questions are
ranked twice: with limbic ranking as it is, and by relevance alone. Without any history both must be the same; in
memories that were made over 90 days, or over a year, and never used since, what age alone takes is shown.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from evoca.domain.clock import DAY, HOUR, FrozenClock, from_iso
from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings

OPERATIONS = {each.name: each for each in CATALOGUE}
TOPICS, MEMBERS = 40, 10
DAYS, FAVOURITES_LAST = 90, 30
QUARTER, YEAR = 90, 365
USES_A_DAY = 12
QUESTIONS = 200
CHANCE = 0.2
SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri".split()


@dataclass(frozen=True, slots=True)
class World:
    """`words[t]`: a topic's vocabulary; `names[t]`: its entities."""

    words: Sequence[Sequence[str]]
    names: Sequence[Sequence[str]]


def build(chance: random.Random) -> World:
    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=3))

    words = [[word() for _ in range(12)] for _ in range(TOPICS)]
    return World(words, [[f"Asunto {topic}-{member}" for member in range(MEMBERS)] for topic in range(TOPICS)])


def fill(runtime: Runtime, clock: FrozenClock, world: World, chance: random.Random, days: int = 0) -> None:
    """One entity of each topic at a time, spread over so many days."""
    for member in range(MEMBERS):
        entities = [
            {
                "name": names[member],
                "entityType": "Asunto",
                "observations": [" ".join(chance.sample(world.words[topic], 7)) for _ in range(3)],
            }
            for topic, names in enumerate(world.names)
        ]
        runtime.call(OPERATIONS["create_entities"], {"entities": entities})
        clock.advance(days * DAY // MEMBERS)
    runtime.services().indexing.catch_up(runtime.services().collection, 60)


def favourites(chance: random.Random) -> Sequence[tuple[int, int]]:
    """All entities, the most asked for first."""
    order = [(topic, member) for topic in range(TOPICS) for member in range(MEMBERS)]
    chance.shuffle(order)
    return order


def draw(order: Sequence[tuple[int, int]], chance: random.Random, count: int) -> list[tuple[int, int]]:
    weights = [1 / rank for rank in range(1, len(order) + 1)]
    return chance.choices(order, weights, k=count)


def live(runtime: Runtime, clock: FrozenClock, world: World, order: Sequence[tuple[int, int]], seed: int) -> None:
    """Thirty days of use."""
    chance = random.Random(seed)
    for _ in range(FAVOURITES_LAST):
        for favourite in draw(order, chance, USES_A_DAY):
            anything = (chance.randrange(TOPICS), chance.randrange(MEMBERS))
            topic, member = anything if chance.random() < CHANCE else favourite
            company = chance.choice(world.names[topic])
            runtime.call(OPERATIONS["open_nodes"], {"names": [world.names[topic][member], company]})
            clock.advance(HOUR)
        runtime.services().tracking.flush()
        clock.advance(DAY - USES_A_DAY * HOUR)


def ndcg(ranked: Sequence[str], wanted: str) -> float:
    return 1 / math.log2(ranked.index(wanted) + 2) if wanted in ranked[:10] else 0.0


def compare(runtime: Runtime, world: World, order: Sequence[tuple[int, int]], seed: int) -> Mapping[str, float]:
    """nDCG@10 of the same questions with limbic ranking and by relevance alone."""
    chance = random.Random(seed)
    on = off = 0.0
    for topic, member in draw(order, chance, QUESTIONS):
        query = " ".join(chance.sample(world.words[topic], 4))
        found = runtime.call(OPERATIONS["search_semantic"], {"query": query, "limit": 200, "track": False})
        hits = cast("list[dict[str, object]]", found["results"])
        by_relevance = sorted(hits, key=lambda hit: -cast("dict[str, float]", hit["scoring"])["relevance"])
        wanted = world.names[topic][member]
        on += ndcg([str(hit["name"]) for hit in hits], wanted)
        off += ndcg([str(hit["name"]) for hit in by_relevance], wanted)
    return {"limbic": round(on / QUESTIONS, 4), "relevance": round(off / QUESTIONS, 4)}


def simulate(folder: Path, seed: int) -> dict[str, Mapping[str, float]]:
    rows: dict[str, Mapping[str, float]] = {}
    for days in (QUARTER, YEAR):
        runtime, clock, world, chance = begin(folder / f"{days}.db", seed)
        fill(runtime, clock, world, chance, days)
        rows[f"unused, of {days} days"] = compare(runtime, world, favourites(chance), seed)
        runtime.close()
    runtime, clock, world, chance = begin(folder / "used.db", seed)
    fill(runtime, clock, world, chance)
    order = favourites(chance)
    rows["no history"] = compare(runtime, world, order, seed)
    for day in range(FAVOURITES_LAST, DAYS + 1, FAVOURITES_LAST):
        live(runtime, clock, world, order, seed + day)
        rows[f"after {day} days"] = compare(runtime, world, order, seed + 1)
        order = favourites(chance)
    runtime.close()
    return rows


def begin(path: Path, seed: int) -> tuple[Runtime, FrozenClock, World, random.Random]:
    chance = random.Random(seed)
    clock = FrozenClock(from_iso("2026-01-01"))
    runtime = Runtime(load_settings(store=str(path), embedder="hash"), clock=clock)
    return runtime, clock, build(chance), chance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = simulate(Path(folder), given.seed)
    print(f"{'nDCG@10':<20}{'limbic':>10}{'relevance':>12}{'gain':>10}")
    for name, row in rows.items():
        print(f"{name:<20}{row['limbic']:>10.4f}{row['relevance']:>12.4f}{row['limbic'] - row['relevance']:>+10.4f}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
