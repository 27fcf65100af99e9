"""PostgreSQL beside SQLite: `python -m bench.postgres [documents] [--engine NAME ...]`. Brings its own server.

Documents are written by `create_entities`, 300 a call, without embedding, to a store that flushes each commit. Then the
stand-in model's vectors of 384 dimensions are stored, and a fresh process searches by words and meaning among a quarter
of the entities, chosen by type; its CPU alone is counted, and its memory. Recall is of the ten closest entities, by
each form of the index in the process and by pgvector's HNSW, against comparing all vectors. The stand-in's vectors are
hashed words: they fill the space far more evenly than a model's do, which makes them hard for any index.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from bench.budgets import Budget
from bench.storage import Texts
from evoca.domain.clock import HOUR, SystemClock
from evoca.domain.limbic import LimbicConstants
from evoca.operations.catalogue import CATALOGUE
from evoca.retrieval.embedders.hashing import HashEmbedder
from evoca.runtime import Runtime
from evoca.services.embedding import Embedding
from evoca.services.searching import SearchService
from evoca.services.serving import Serving
from evoca.settings import Settings, load_settings
from evoca.storage import open_store
from evoca.storage.contract import NewVector, PendingDocument, Session, Store
from tests.support.postgres import embedded, running

if TYPE_CHECKING:
    import psycopg
    from numpy.typing import NDArray

ENGINES = ("sqlite", "postgres")
DIM = 384
MODEL = f"hash:{DIM}"
BATCH = 50
OBSERVATIONS = 5
TYPES = ("Persona", "Lugar", "Proyecto", "Idea")
QUESTIONS = 200
NEAREST = 10
PASSAGES = NEAREST * (OBSERVATIONS + 1)
"""Among so many documents there are always ten entities."""
WIDTHS = (40, 100, 200, 400)
"""`hnsw.ef_search`: how many candidates pgvector keeps while it walks."""
_SERVER = (
    "fsync = on\nshared_buffers = 512MB\nmaintenance_work_mem = 1GB\nmax_wal_size = 4GB\nautovacuum_naptime = 1min"
)
_TOOLS = {operation.name: operation for operation in CATALOGUE}


@dataclass(frozen=True, slots=True)
class Searching:
    """`load`: seconds of the first search, which reads the index. `cpu`, `wall`: ms a call, in their order.

    `peak`, `kept`: megabytes that the process held more than before the first search, at its most and at the end.
    """

    load: float
    cpu: list[float]
    wall: list[float]
    peak: float
    kept: float


class TurnedEmbedder(HashEmbedder):
    """The stand-in, whose vectors are mostly zeros, turned at random: all cosines stay."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self.model_id = f"turned/{dim}"

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return (super()._embed(texts) @ _turn(self.dim)).astype(np.float32)


@cache
def _turn(dim: int) -> NDArray[np.float64]:
    return np.linalg.qr(np.random.default_rng(1).standard_normal((dim, dim)))[0]


class TurnedEmbedding(Embedding):
    def load(self) -> TurnedEmbedder:
        return TurnedEmbedder(DIM)


@contextmanager
def place(engine: str) -> Generator[str]:
    """Where an empty store is to be made."""
    if engine == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "bench.db")
    else:
        with running(embedded(), _SERVER) as server:
            yield server.url(server.new_database())


def settings_for(location: str, embedder: str) -> Settings:
    return load_settings(store=location, embedder=embedder, indexer=False, track=False)


def ingest(location: str, documents: int) -> tuple[float, float, float]:
    """Documents written a second, and for each the CPU milliseconds of this process and of PostgreSQL's backends."""
    texts = Texts()
    entities = documents // (OBSERVATIONS + 1)
    calls = [
        [_entity(texts, number) for number in range(first, min(first + BATCH, entities))]
        for first in range(0, entities, BATCH)
    ]
    opened = Runtime(settings_for(location, "none"))
    opened.services()
    cpu, began = time.process_time(), time.perf_counter()
    for batch in calls:
        opened.call(_TOOLS["create_entities"], {"entities": batch})
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    behind = backends(location)
    opened.close()
    made = entities * (OBSERVATIONS + 1)
    return made / seconds, cpu / made * 1e3, behind / made * 1e3


def backends(location: str) -> float:
    """CPU seconds of PostgreSQL's processes for the connections that are open; 0 for SQLite, which has none."""
    import psycopg

    if "://" not in location:
        return 0.0
    with psycopg.connect(location) as connection:
        found = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'evoca'").fetchall()
        times = [psutil.Process(int(pid)).cpu_times() for (pid,) in found]
    return sum(each.user + each.system for each in times)


def _entity(texts: Texts, number: int) -> dict[str, object]:
    said = [texts.sentence() for _ in range(OBSERVATIONS)]
    return {"name": texts.name(number), "entityType": TYPES[number % len(TYPES)], "observations": said}


def store_vectors(store: Store) -> float:
    """Vectors written a second, the time for making them left out."""
    from evoca.retrieval.index import pack_vectors

    embedder, now = TurnedEmbedder(DIM), SystemClock().now()
    model = embedder.model_id
    store.write(lambda session: session.documents.register_model(model, now))
    stored, seconds = 0, 0.0
    while True:
        began = time.perf_counter()
        batch = store.write(lambda session: session.documents.claim(model, 2_000, "bench", now, now + HOUR))
        seconds += time.perf_counter() - began
        if not batch:
            return stored / seconds
        packed = pack_vectors(embedder.embed_passages([each.text for each in batch]))

        def work(session: Session, batch: list[PendingDocument] = batch, packed: list[bytes] = packed) -> int:
            rows = [NewVector(each.id, each.content_hash, row) for each, row in zip(batch, packed, strict=True)]
            return session.documents.store_vectors(model, rows)

        began = time.perf_counter()
        stored += store.write(work)
        seconds += time.perf_counter() - began


def questions(store: Store) -> list[str]:
    """Half of what some observation says each."""

    def work(session: Session) -> list[str]:
        rows = session.documents.changes(0, None).rows
        chosen = random.Random(3).sample([row.id for row in rows if row.owner_id != row.entity_id], QUESTIONS)
        return list(session.documents.texts(chosen).values())

    halves = [text.split() for text in store.read(work)]
    return [" ".join(words[::2]) for words in halves]


def search(location: str, asked: Sequence[str]) -> Searching:
    """Search by words and meaning among the entities of one type; in a process of its own."""
    settings = settings_for(location, MODEL)
    opened = Runtime(settings)
    services = opened.services()
    serving = Serving(opened.store, TurnedEmbedding(settings))
    service = SearchService(
        opened.store, SystemClock(), serving, services.indexing, services.tracking, LimbicConstants(), 0
    )
    services = replace(services, search=service)

    def call(number: int) -> None:
        arguments = {"query": asked[number], "entity_types": [TYPES[number % len(TYPES)]], "limit": NEAREST}
        _TOOLS["search_semantic"].call(services, arguments)

    before, began = _megabytes("VmRSS"), time.perf_counter()
    call(0)
    load, cpu, wall = time.perf_counter() - began, list[float](), list[float]()
    for number in range(1, len(asked)):
        spent, began = time.process_time(), time.perf_counter()
        call(number)
        cpu.append((time.process_time() - spent) * 1e3)
        wall.append((time.perf_counter() - began) * 1e3)
    peak, kept = _megabytes("VmHWM") - before, _megabytes("VmRSS") - before
    opened.close()
    return Searching(load, sorted(cpu), sorted(wall), peak, kept)


def _megabytes(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":")) / 1024


def apart(work: Callable[[str, Sequence[str]], Searching], location: str, asked: Sequence[str]) -> Searching:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, location, asked).result()


@dataclass(frozen=True, slots=True)
class Everything:
    """All vectors: centred unit rows (n, dim), and whose they are; `queries`: the same of the questions."""

    documents: NDArray[np.int64]
    entities: NDArray[np.int64]
    rows: NDArray[np.float32]
    queries: NDArray[np.float32]

    def closest(self, query: NDArray[np.float32]) -> set[int]:
        """The entities of the closest documents, by comparing all."""
        return self.first((self.rows @ query).argsort()[::-1][:PASSAGES].tolist())

    def first(self, ranked: Sequence[int]) -> set[int]:
        return set(list(dict.fromkeys(self.entities[ranked].tolist()))[:NEAREST])


def everything(store: Store, asked: Sequence[str]) -> Everything:
    from evoca.retrieval.index import unpack_vectors

    embedder = TurnedEmbedder(DIM)
    rows = store.read(lambda session: session.documents.changes(0, embedder.model_id)).rows
    languages = np.array([row.language for row in rows], np.int8)
    unpacked = unpack_vectors([row.vector for row in rows if row.vector is not None], DIM)
    centred = embedder.calibration.centre_passages(unpacked, languages)
    queries = np.stack([embedder.calibration.centre_query(row, 0) for row in embedder.embed_queries(asked)])
    ids = np.array([(row.id, row.entity_id) for row in rows], np.int64)
    return Everything(ids[:, 0], ids[:, 1], centred, queries)


def recall(found: Callable[[NDArray[np.float32]], set[int]], known: Everything, exact: Sequence[set[int]]) -> float:
    hits = [len(found(query) & right) for query, right in zip(known.queries, exact, strict=True)]
    return sum(hits) / sum(len(right) for right in exact)


def recall_in_process(store: Store, known: Everything, exact: Sequence[set[int]]) -> dict[str, float]:
    """Of the forms that the index in the process takes as it grows."""
    from evoca.retrieval.index import DocumentIndex, Limits
    from evoca.retrieval.meaning import find_meaning

    embedder, measured = TurnedEmbedder(DIM), dict[str, float]()
    forms = {"one bit and eight": Limits(0, len(known.rows)), "one bit and the store's": Limits(0, 0)}
    for name, limits in forms.items():
        index = DocumentIndex(embedder.model_id, DIM, embedder.calibration, limits)

        def found(query: NDArray[np.float32], index: DocumentIndex = index) -> set[int]:
            def work(session: Session) -> set[int]:
                shard, _ahead = index.view(session, 1)
                meaning = find_meaning(session, shard, embedder.model_id, embedder.calibration, query, None)
                best = meaning.found[(-meaning.best[meaning.found]).argsort(kind="stable")]
                return set(shard.entity_ids[best[:NEAREST]].tolist())

            return store.read(work)

        measured[name] = recall(found, known, exact)
    return measured


def recall_of_hnsw(
    connection: psycopg.Connection, known: Everything, exact: Sequence[set[int]]
) -> dict[int, tuple[float, float]]:
    """`ef_search` → recall and median wall milliseconds, of a table of centred halfvecs beside the store's own."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    connection.execute(f"CREATE TABLE public.nearest (place int, centred halfvec({DIM}))".encode())
    with connection.cursor().copy("COPY public.nearest FROM STDIN") as copy:
        for place, row in enumerate(known.rows):
            copy.write_row((place, _shown(row)))
    connection.execute("CREATE INDEX ON public.nearest USING hnsw (centred halfvec_cosine_ops)")
    connection.execute("SET enable_seqscan = off")
    measured: dict[int, tuple[float, float]] = {}
    for width in WIDTHS:
        connection.execute(f"SET hnsw.ef_search = {width}".encode())
        spent: list[float] = []

        def found(query: NDArray[np.float32], spent: list[float] = spent) -> set[int]:
            began = time.perf_counter()
            rows = connection.execute(_NEAREST, {"query": _shown(query), "most": PASSAGES}).fetchall()
            spent.append((time.perf_counter() - began) * 1e3)
            return known.first([int(place) for (place,) in rows])

        measured[width] = recall(found, known, exact), statistics.median(spent)
    return measured


def _shown(row: NDArray[np.float32]) -> str:
    return "[" + ",".join(map(str, row.tolist())) + "]"


_NEAREST = "SELECT place FROM public.nearest ORDER BY centred <=> %(query)s LIMIT %(most)s"


def measure(engine: str, location: str, documents: int) -> None:
    """Measure one engine and print each figure when it is known."""
    began = time.perf_counter()
    rate, cpu, behind = ingest(location, documents)
    show(Budget(f"{engine}: ingest without embedding", rate, "docs/s", least=2_000))
    store = open_store(location, SystemClock())
    vectors = store_vectors(store)
    asked = questions(store)
    found = apart(search, location, asked)
    print(f"{engine}, {documents:,} documents: {cpu:.3f} ms CPU to write each, {behind:.3f} in PostgreSQL")
    print(f"{engine}: {vectors:,.0f} vectors/s stored")
    print(
        f"{engine}: the first search took {found.load:.1f} s and {found.peak:.0f} MB at its most, {found.kept:.0f} MB "
        f"afterwards; p95 {_at(found.cpu, 0.95):.1f} ms CPU; wall p50 {_at(found.wall, 0.5):.1f}, p95 "
        f"{_at(found.wall, 0.95):.1f} ms",
        flush=True,
    )
    show(Budget(f"{engine}: filtered search by words and meaning, p50", _at(found.cpu, 0.5), "ms CPU", most=30))
    known = everything(store, asked)
    exact = [known.closest(query) for query in known.queries]
    for form, value in recall_in_process(store, known, exact).items():
        show(Budget(f"{engine}: recall@10, {form}", value, "", least=0.97))
    if engine == "postgres":
        _hnsw(location, known, exact)
    store.close()
    print(f"{engine}: {time.perf_counter() - began:.0f} s in all")


def show(budget: Budget) -> None:
    print(budget.line, flush=True)


def _hnsw(location: str, known: Everything, exact: Sequence[set[int]]) -> None:
    import psycopg

    with psycopg.connect(location, autocommit=True) as connection:
        began = time.perf_counter()
        measured = recall_of_hnsw(connection, known, exact)
        print(f"postgres: HNSW filled, built and asked in {time.perf_counter() - began:.0f} s")
    for width, (value, wall) in measured.items():
        what = f"postgres: recall@10, HNSW, ef_search {width}"
        show(Budget(what, value, "", least=0.97, note=f"{wall:.1f} ms wall"))


def _at(ascending: Sequence[float], share: float) -> float:
    return ascending[int(len(ascending) * share)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("documents", type=int, nargs="?", default=200_000)
    parser.add_argument("--engine", choices=ENGINES, action="append")
    given = parser.parse_args()
    # As `evoca` itself has it: threads of BLAS that wait for each other would be counted as work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for engine in given.engine or ENGINES:
        with place(engine) as location:
            measure(engine, location, given.documents)


if __name__ == "__main__":
    main()
