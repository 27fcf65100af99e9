"""Evoca and the official memory server side by side: start, ingest, single calls, CPU, size. `python -m bench.server`

Both run in turns in the same minutes, and a bare server of the same SDK beside them shows what the protocol alone
costs. Wall times depend on the machine and its load; CPU and ratios are what the budgets are about. Searches by
meaning use the deterministic stand-in model, so that the cost of embedding stays out of them; texts are embedded
before a search is measured, and not at all while writes are.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from bench import corpus
from bench.budgets import (
    BYTES_PER_ENTITY,
    CALL_CPU_MS,
    ENTITIES_PER_S,
    IDLE_MB,
    LISTING_KB,
    MODEL_MB,
    RELATIONS_PER_S,
    START_RATIO,
    WHOLE_LISTING_KB,
    Budget,
)
from bench.contenders import BARE, EVOCA, OFFICIAL, Contestant, contenders, official_file, size_on_disk, start
from tests.process.support.client import Json, JsonObject

BATCH = 50
QUIET = {"EVOCA_EMBEDDER": "hash", "EVOCA_INDEXER": "false"}
GRAPH = {"EVOCA_TOOLSETS": "graph,graph-upkeep"}
EAGER = {
    "EVOCA_EMBEDDER": "hash",
    "EVOCA_INDEXER_REST": "0",
    "EVOCA_INDEXER_BATCH": "256",
    "EVOCA_CATCH_UP": "60",
}
Call = tuple[str, JsonObject]
T = TypeVar("T")


@dataclass(slots=True)
class Costs:
    """One kind of call: wall times in ms, and CPU in ms for each call."""

    calls: int
    p50_ms: float
    p95_ms: float
    cpu_ms: float


@dataclass(slots=True)
class Start:
    wall_ms: float
    cpu_ms: float
    rss_mb: float
    listing_bytes: int


@dataclass(slots=True)
class Ingest:
    """Rates over what was done before the time was up; `bytes` for each entity, before and with the relations.

    `entity_cpu_ms`, `relation_cpu_ms`: the server's CPU for each, which a busy machine does not change much.
    """

    entities_per_s: float
    relations_per_s: float
    entity_cpu_ms: float
    relation_cpu_ms: float
    bytes_per_entity: float
    bytes_with_relations: float
    whole: bool


@dataclass(slots=True)
class Memory:
    """Resident MB of Evoca: with the store open, and with the real model loaded."""

    open_mb: float
    model_mb: float


@dataclass(slots=True)
class Run:
    """Everything measured, as it is written to JSON."""

    machine: dict[str, str | float] = field(default_factory=dict[str, "str | float"])
    start: dict[str, Start] = field(default_factory=dict[str, Start])
    graph_listing_bytes: int = 0
    memory: Memory | None = None
    ingest: dict[str, dict[str, Ingest]] = field(default_factory=dict[str, "dict[str, Ingest]"])
    calls: dict[str, dict[str, dict[str, Costs]]] = field(default_factory=dict[str, "dict[str, dict[str, Costs]]"])
    indexing_ms_per_text: dict[str, float] = field(default_factory=dict[str, float])


# -- start -----------------------------------------------------------------------------------------


def measure_starts(who: Sequence[str], folder: Path, rounds: int) -> dict[str, Start]:
    """Medians over rounds in turns; the first round only warms the disk's cache."""
    seen: dict[str, list[Start]] = {name: [] for name in who}
    for round_ in range(rounds + 1):
        for name in who:
            contestant = start(name, folder / f"start-{name}-{round_}", QUIET)
            figures = Start(
                contestant.started_ms, contestant.started_cpu_ms, contestant.rss_mb(), contestant.listing_bytes
            )
            contestant.stop()
            if round_:
                seen[name].append(figures)
    return {name: _median_start(figures) for name, figures in seen.items()}


def _median_start(figures: list[Start]) -> Start:
    return Start(
        statistics.median(f.wall_ms for f in figures),
        statistics.median(f.cpu_ms for f in figures),
        statistics.median(f.rss_mb for f in figures),
        figures[0].listing_bytes,
    )


def measure_graph_listing(folder: Path) -> int:
    """Bytes of `tools/list` with the graph's tools alone."""
    contestant = start(EVOCA, folder / "listing", QUIET | GRAPH)
    contestant.stop()
    return contestant.listing_bytes


def measure_memory(folder: Path) -> Memory:
    contestant = start(EVOCA, folder / "rss", {"EVOCA_EMBEDDER": "auto"})
    try:
        contestant.server.ok("read_graph")
        opened = contestant.rss_mb()
        contestant.server.ok("create_entities", _create([corpus.Memory("Faro", "Lugar", ("alumbra la costa",))]))
        contestant.server.ok("search_semantic", {"query": "luz del mar"})
        return Memory(opened, contestant.rss_mb())
    finally:
        contestant.stop()


# -- ingest ----------------------------------------------------------------------------------------


def _create(memories: Sequence[corpus.Memory]) -> dict[str, Json]:
    return {
        "entities": [{"name": m.name, "entityType": m.kind, "observations": list(m.observations)} for m in memories]
    }


def _relate(links: Sequence[tuple[str, str, str]]) -> dict[str, Json]:
    return {"relations": [{"from": a, "to": b, "relationType": kind} for a, kind, b in links]}


def measure_ingest(who: str, folder: Path, size: int, seconds: float) -> Ingest:
    """Batches of 50, each answered before the next is sent. What the time did not suffice for is stored untimed."""
    memories, links = corpus.memories(size), corpus.links(size)
    contestant = start(who, folder, QUIET)
    creations = [_create(batch) for batch in _batches(memories)]
    entity_rate, entity_cpu, entities_done = _timed(contestant, "create_entities", creations, seconds)
    contestant.stop()
    bare_bytes = size_on_disk(who, folder) / (entities_done * BATCH)
    if entities_done < len(creations):
        _complete(who, folder, "create_entities", creations[entities_done:], memories, [])
    contestant = start(who, folder, QUIET)
    relatings = [_relate(batch) for batch in _batches(links)]
    relation_rate, relation_cpu, relations_done = _timed(contestant, "create_relations", relatings, seconds)
    contestant.stop()
    if relations_done < len(relatings):
        _complete(who, folder, "create_relations", relatings[relations_done:], memories, links)
    full_bytes = size_on_disk(who, folder) / size
    whole = entities_done == len(creations) and relations_done == len(relatings)
    return Ingest(entity_rate, relation_rate, entity_cpu, relation_cpu, bare_bytes, full_bytes, whole)


def _complete(
    who: str,
    folder: Path,
    tool: str,
    rest: Sequence[JsonObject],
    memories: Sequence[corpus.Memory],
    links: Sequence[tuple[str, str, str]],
) -> None:
    """Store what is left: by further calls, or, where they would take many minutes, by writing the whole file."""
    if who == OFFICIAL:
        _write_official(official_file(folder), memories, links)
        return
    contestant = start(who, folder, QUIET)
    for arguments in rest:
        contestant.server.ok(tool, arguments)
    contestant.stop()


def _batches(items: Sequence[T]) -> list[Sequence[T]]:
    return [items[begin : begin + BATCH] for begin in range(0, len(items), BATCH)]


def _timed(
    contestant: Contestant, tool: str, batches: Sequence[JsonObject], seconds: float
) -> tuple[float, float, int]:
    """(items each second, CPU ms for each item, batches done) within the time."""
    contestant.server.ok("read_graph")
    cpu, began = contestant.cpu_ms(), time.perf_counter()
    done = 0
    for arguments in batches:
        contestant.server.ok(tool, arguments)
        done += 1
        if time.perf_counter() - began > seconds:
            break
    items = done * BATCH
    return items / (time.perf_counter() - began), (contestant.cpu_ms() - cpu) / items, done


def _write_official(file: Path, memories: Sequence[corpus.Memory], links: Sequence[tuple[str, str, str]]) -> None:
    lines = [
        {"type": "entity", "name": m.name, "entityType": m.kind, "observations": list(m.observations)} for m in memories
    ]
    relations = [{"type": "relation", "from": a, "to": b, "relationType": kind} for a, kind, b in links]
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in [*lines, *relations]), encoding="utf-8")


# -- single calls ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of call. `make(n)` is the n-th call; `for_official` None: the official server has no such tool."""

    name: str
    make: Callable[[int], Call]
    for_official: Callable[[int], Call] | None
    writes: bool = False
    share: float = 1.0


def kinds(size: int, most: int) -> list[Kind]:
    fresh = corpus.newcomers("Nuevo", most)
    chance = random.Random(3)
    opened: list[list[Json]] = [[corpus.name_of(chance.randrange(size)) for _ in range(5)] for _ in range(most)]
    questions = [corpus.question(chance) for _ in range(most)]

    def add(n: int) -> Call:
        text = f"y además {corpus.sentence(random.Random(n))}"
        return "add_observations", {"observations": [{"entityName": corpus.name_of(n * 7 % size), "contents": [text]}]}

    def search(query: str, limit: int | None = None) -> Callable[[int], Call]:
        arguments: dict[str, Json] = {"query": query}
        if limit is not None:
            arguments["limit"] = limit
        return lambda _: ("search_nodes", arguments)

    def create(n: int) -> Call:
        return "create_entities", _create([fresh[n]])

    return [
        Kind("create 1", create, create, writes=True),
        Kind("add 1", add, add, writes=True),
        Kind("search rare", search(corpus.RARE), search(corpus.RARE)),
        Kind("search common, 10", search(corpus.COMMON, 10), None),
        Kind("search common, all", search(corpus.COMMON), search(corpus.COMMON), share=0.2),
        Kind("open 5", lambda n: ("open_nodes", {"names": opened[n]}), lambda n: ("open_nodes", {"names": opened[n]})),
        Kind("read graph", lambda _: ("read_graph", {}), lambda _: ("read_graph", {}), share=0.05),
        Kind("read graph, 50", lambda _: ("read_graph", {"limit": 50}), None),
        Kind("semantic, untracked", lambda n: ("search_semantic", {"query": questions[n], "track": False}), None),
        Kind("semantic", lambda n: ("search_semantic", {"query": questions[n]}), None),
    ]


def measure_calls(who: Sequence[str], folder: Path, size: int, most: int) -> dict[str, dict[str, Costs]]:
    """Kind → contender → costs. The contenders take turns within each kind; the bare server is called as often."""
    results: dict[str, dict[str, Costs]] = {}
    for writes, env in ((True, QUIET), (False, EAGER)):
        running = {name: start(name, folder / name, env) for name in who}
        try:
            if not writes:
                wait_until_indexed(running[EVOCA])
            for kind in kinds(size, most):
                if kind.writes == writes:
                    results[kind.name] = _measure_kind(kind, running, max(5, int(most * kind.share)))
        finally:
            for contestant in running.values():
                contestant.stop()
    return results


def wait_until_indexed(evoca: Contestant) -> float:
    """Until every text has its vector; the CPU that it took, in ms."""
    before = evoca.cpu_ms()
    while "warnings" in evoca.server.ok("search_semantic", {"query": "faro", "track": False}, timeout=600).data:
        pass
    return evoca.cpu_ms() - before


def _measure_kind(kind: Kind, running: dict[str, Contestant], count: int) -> dict[str, Costs]:
    plans: dict[str, Callable[[int], Call]] = {EVOCA: kind.make, BARE: lambda _: ("nothing", {"query": "x"})}
    if kind.for_official is not None:
        plans[OFFICIAL] = kind.for_official
    walls: dict[str, list[float]] = {name: [] for name in running if name in plans}
    cpu = dict.fromkeys(walls, 0.0)
    turn = max(1, count // 5)
    for begin in range(0, count, turn):
        for name, times in walls.items():
            contestant = running[name]
            before = contestant.cpu_ms()
            for n in range(begin, min(begin + turn, count)):
                tool, arguments = plans[name](n)
                began = time.perf_counter()
                contestant.server.ok(tool, arguments)
                times.append((time.perf_counter() - began) * 1_000)
            cpu[name] += contestant.cpu_ms() - before
    return {name: _costs(times, cpu[name]) for name, times in walls.items()}


def _costs(times: list[float], cpu: float) -> Costs:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return Costs(len(times), statistics.median(ordered), p95, cpu / len(times))


# -- the whole run ---------------------------------------------------------------------------------


def run(sizes: Sequence[int], calls: int, seconds: float, folder: Path) -> Run:
    who = contenders()
    result = Run(machine=_machine())
    _say("start")
    result.start = measure_starts(who, folder, 5)
    result.graph_listing_bytes = measure_graph_listing(folder)
    result.memory = measure_memory(folder)
    for size in sizes:
        place = folder / str(size)
        rivals = [name for name in who if name != BARE]
        _say(f"ingest of {size}")
        result.ingest[str(size)] = {name: measure_ingest(name, place / name, size, seconds) for name in rivals}
        _say(f"embedding {size}")
        indexer = start(EVOCA, place / EVOCA, EAGER)
        result.indexing_ms_per_text[str(size)] = wait_until_indexed(indexer) / (size * 6)
        indexer.stop()
        _say(f"calls at {size}")
        result.calls[str(size)] = measure_calls(who, place, size, calls)
    return result


def _say(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


def _machine() -> dict[str, str | float]:
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count() or 0,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    }


def verdicts(result: Run) -> list[Budget]:
    """The design's budgets that this run can judge."""
    evoca, bare = result.start[EVOCA], result.start[BARE]
    judged = [
        Budget("start, CPU, × the bare server", evoca.cpu_ms / bare.cpu_ms, "×", most=START_RATIO),
        Budget("start, wall, × the bare server", evoca.wall_ms / bare.wall_ms, "×", most=START_RATIO),
        Budget("idle memory above the bare server", evoca.rss_mb - bare.rss_mb, "MB", most=IDLE_MB),
        Budget("tools/list, graph and its upkeep", result.graph_listing_bytes / 1024, "KB", most=LISTING_KB),
        Budget("tools/list, everything", evoca.listing_bytes / 1024, "KB", most=WHOLE_LISTING_KB),
    ]
    if result.memory is not None:
        judged += [
            Budget("memory with the store open", result.memory.open_mb - bare.rss_mb, "MB", most=IDLE_MB),
            Budget("memory with the model loaded", result.memory.model_mb - bare.rss_mb, "MB", most=MODEL_MB),
        ]
    for size, figures in result.ingest.items():
        own = figures[EVOCA]
        judged += [
            Budget(f"{size}: ingest, entities", own.entities_per_s, "/s", least=ENTITIES_PER_S),
            Budget(f"{size}: ingest, relations", own.relations_per_s, "/s", least=RELATIONS_PER_S),
            Budget(f"{size}: disk for each entity, vectors apart", own.bytes_per_entity, "B", most=BYTES_PER_ENTITY),
        ]
    for size, kinds_ in result.calls.items():
        for name, most in CALL_CPU_MS.items():
            costs = kinds_[name]
            above = costs[EVOCA].cpu_ms - costs[BARE].cpu_ms
            judged.append(Budget(f"{size}: {name}, CPU above the bare call", above, "ms", most=most))
    return judged


def report(result: Run) -> str:
    """The tables and the verdicts, as text."""
    lines = ["", f"{'start → tools/list':<28}{'wall ms':>10}{'CPU ms':>10}{'RSS MB':>10}{'list B':>10}"]
    lines += [
        f"{name:<28}{s.wall_ms:>10.0f}{s.cpu_ms:>10.0f}{s.rss_mb:>10.1f}{s.listing_bytes:>10}"
        for name, s in result.start.items()
    ]
    for size, figures in result.ingest.items():
        title = f"ingest of {size}, by {BATCH}"
        lines += ["", f"{title:<28}{'entities/s':>12}{'CPU ms':>8}{'relations/s':>12}{'CPU ms':>8}{'B/entity':>10}"]
        lines += [
            f"{name:<28}{i.entities_per_s:>12.0f}{i.entity_cpu_ms:>8.3f}{i.relations_per_s:>12.0f}"
            f"{i.relation_cpu_ms:>8.3f}{i.bytes_per_entity:>10.0f}{'' if i.whole else '  (time was up)'}"
            for name, i in figures.items()
        ]
        lines.append(
            f"{'embedding (stand-in model)':<28}{result.indexing_ms_per_text[size]:>12.2f} ms CPU for each text"
        )
    for size, kinds_ in result.calls.items():
        lines += ["", f"{f'one call at {size}':<22}{'':<10}{'p50 ms':>10}{'p95 ms':>10}{'CPU ms':>10}{'− bare':>10}"]
        for kind, costs in kinds_.items():
            lines += [
                f"{kind if name == EVOCA else '':<22}{name:<10}{c.p50_ms:>10.2f}{c.p95_ms:>10.2f}{c.cpu_ms:>10.2f}"
                f"{c.cpu_ms - costs[BARE].cpu_ms:>10.2f}"
                for name, c in costs.items()
                if name != BARE
            ]
    lines += ["", "Budgets of the design"]
    lines += [budget.line for budget in verdicts(result)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000", help="entities in the store, separated by commas")
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind")
    parser.add_argument("--seconds", type=float, default=20.0, help="longest time for one ingest")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    given = parser.parse_args()
    sizes = [int(size) for size in str(given.sizes).split(",")]
    folder = Path(tempfile.mkdtemp(prefix="evoca-bench-"))
    try:
        result = run(sizes, given.calls, given.seconds, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(report(result))
    whole = asdict(result) | {"budgets": [asdict(b) | {"reached": b.reached} for b in verdicts(result)]}
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    if given.json is not None:
        given.json.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
