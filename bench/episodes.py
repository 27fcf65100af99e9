"""What saving and finding cost among many memories. `python -m bench.episodes [memories]`; CPU ms a call, as JSON.

50,000 memories in 500 sessions over a year; every one has a vector of a deterministic stand-in model (its own cost is
shown, and is in the searches). The process's whole CPU time is counted, the writer's thread too; the waiting for the
disk is not.
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
from bench.corpus import sentence
from bench.episode_upkeep import DIM, embed, fill
from evoca.operations.catalogue import CATALOGUE
from evoca.retrieval.embedders import load_embedder
from evoca.runtime import Runtime
from evoca.settings import load_settings

_TOOLS = {operation.name: operation for operation in CATALOGUE}
ROUNDS = 100


def cpu_of(work: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """CPU milliseconds a call, the median: what else runs on a busy machine makes single calls dearer."""
    spent: list[float] = []
    for number in range(rounds):
        began = time.process_time()
        work(number)
        spent.append(time.process_time() - began)
    return round(statistics.median(spent) * 1000, 3)


def measure(opened: Runtime) -> dict[str, float]:
    chance = random.Random(11)
    queries = [" ".join(sentence(chance).split()[:6]) for _ in range(ROUNDS + 1)]
    fresh = [f"{sentence(chance)}, nuevo {number}" for number in range(2 * ROUNDS)]
    embedder = load_embedder(f"hash:{DIM}")

    def call(name: str, **given: object) -> Mapping[str, object]:
        return opened.call(_TOOLS[name], given)

    def search(number: int, **given: object) -> Mapping[str, object]:
        return call("search_hipocampo", query=queries[number], **given)

    def save_and_search(number: int) -> None:
        call("save_hipocampo", content=fresh[ROUNDS + number], session_id="fresh")
        search(number)

    began = time.process_time()
    search(ROUNDS)
    found = {"first search (reads the index)": round((time.process_time() - began) * 1000, 1)}
    found["query embedding"] = cpu_of(lambda number: embedder.embed_queries([queries[number]]))
    found["save"] = cpu_of(lambda number: call("save_hipocampo", content=fresh[number], session_id="fresh"))
    found["save, refused"] = cpu_of(lambda number: call("save_hipocampo", content=fresh[number], session_id="fresh"))
    search(ROUNDS)
    found["search"] = cpu_of(search)
    found["search, one session"] = cpu_of(lambda number: search(number, session_id=f"s{number}"))
    found["search, one category"] = cpu_of(lambda number: search(number, categories=["uno"]))
    found["search, level and period"] = cpu_of(lambda number: search(number, nivel="semantica", since="2020-01-01"))
    found["save and search"] = cpu_of(save_and_search)
    found["list the newest"] = cpu_of(lambda _: call("search_hipocampo", query=""))
    found["compress"] = cpu_of(lambda number: call("compress_hipocampo", query=queries[number]))
    return found


def main() -> None:
    memories = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            store=str(Path(folder) / "m.db"), embedder=f"hash:{DIM}", indexer=False, catch_up=0, track=False
        )
        opened = Runtime(settings)
        fill(opened, memories)
        embed(opened)
        found = measure(opened)
        opened.close()
    print(json.dumps({"memories": memories, **found}, indent=2))
    budgets = (
        Budget("save_hipocampo", found["save"], "ms CPU", most=2),
        Budget(
            "search_hipocampo above the query's embedding", found["search"] - found["query embedding"], "ms", most=10
        ),
    )
    for budget in budgets:
        print(budget.line)


if __name__ == "__main__":
    main()
