"""The background indexer: pending rows become vectors, across kills, models and processes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings

OPERATIONS = {operation.name: operation for operation in CATALOGUE}
ENTITIES = {"entities": [{"name": f"e{n}", "observations": [f"texto número {n}"]} for n in range(20)]}


def runtime(path: Path, **settings: object) -> Runtime:
    return Runtime(load_settings(store=str(path / "m.db"), **settings))


def settled(opened: Runtime) -> int:
    services = opened.services()
    return services.indexing.catch_up(services.collection, timeout=30)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_new_texts_get_vectors(tmp_path: Path) -> None:
    opened = runtime(tmp_path, embedder="hash")
    opened.call(OPERATIONS["create_entities"], ENTITIES)
    assert settled(opened) == 0
    status = opened.services().indexing.status()
    assert (status.pending, status.problem) == (0, "")
    opened.close()


def test_work_left_by_another_process_is_carried_on(tmp_path: Path) -> None:
    first = runtime(tmp_path, embedder="hash", indexer=False)
    first.call(OPERATIONS["create_entities"], ENTITIES)
    first.close()
    second = runtime(tmp_path, embedder="hash")
    assert settled(second) == 0
    second.close()


def test_a_store_made_without_a_model_is_embedded_later(tmp_path: Path) -> None:
    first = runtime(tmp_path, embedder="none")
    first.call(OPERATIONS["create_entities"], ENTITIES)
    first.close()
    second = runtime(tmp_path, embedder="hash")
    assert settled(second) == 0
    hits = second.call(OPERATIONS["search_semantic"], {"query": "texto número 7", "limit": 1})["results"]
    assert isinstance(hits, list)
    assert hits[0]["distance"] is not None
    second.close()


def test_another_model_embeds_everything_anew(tmp_path: Path) -> None:
    for embedder in ("hash:64", "hash:32", "hash:64"):
        opened = runtime(tmp_path, embedder=embedder)
        opened.call(OPERATIONS["create_entities"], ENTITIES)
        assert settled(opened) == 0
        found = opened.call(OPERATIONS["search_semantic"], {"query": "texto", "limit": 200})
        hits = cast("list[dict[str, object]]", found["results"])
        assert len(hits) == 20
        assert all(hit["distance"] is not None for hit in hits)
        opened.close()


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    both = [runtime(tmp_path, embedder="hash", indexer_batch=1) for _ in range(2)]
    both[0].call(OPERATIONS["create_entities"], ENTITIES)
    both[1].services().indexing.start()
    assert [settled(opened) for opened in both] == [0, 0]
    for opened in both:
        opened.close()


_EDGE = """
INSERT INTO edges (id, collection_id, subject_id, predicate, object_id, created_at) VALUES (?, ?, ?, ?, ?, 1)
"""


def old_store(path: Path, relations: int) -> None:
    """A store whose edges have no documents, as one of before facts has them."""
    opened = runtime(path, embedder="none", indexer=False)
    opened.call(OPERATIONS["create_entities"], ENTITIES)
    subject, target = (entity.id for entity in opened.store.read(lambda session: session.entities.page(1, limit=2)))
    first = opened.store.write(lambda session: session.incoming.take_ids(relations))
    opened.close()
    with closing(sqlite3.connect(path / "m.db")) as database:
        database.executemany(
            _EDGE,
            [(first + n, 1, subject, f"vive_en_{n}", target) for n in range(relations)],
        )
        database.execute("INSERT INTO unindexed_edges (edge_id, collection_id) SELECT id, 1 FROM edges")
        database.commit()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("embedder", ["none", "hash"])
def test_edges_of_an_older_store_are_indexed_in_the_background(tmp_path: Path, embedder: str) -> None:
    old_store(tmp_path, 1_100)
    opened = runtime(tmp_path, embedder=embedder)
    opened.services()
    until(lambda: opened.store.read(lambda session: session.facts.waiting()) == 0)
    found = opened.call(OPERATIONS["recall"], {"query": "vive 1099", "depth": 0})
    assert cast("list[dict[str, object]]", found["facts"])[0]["predicate"] == "vive_en_1099"
    assert opened.store.check()["integrity"] == "ok"
    opened.close()


def test_nobody_else_waits_for_the_vectors_of_facts(tmp_path: Path) -> None:
    opened = runtime(tmp_path, embedder="hash", indexer=False)
    opened.call(OPERATIONS["create_entities"], ENTITIES)
    assert settled(opened) == 0
    opened.call(OPERATIONS["search_semantic"], {"query": "texto"})
    services = opened.services()
    model = services.embedding.load().model_id
    # Whoever holds the leases never comes back.
    services.indexing.close()
    opened.call(OPERATIONS["create_relations"], {"relations": [{"from": "e1", "to": "e0", "relationType": "vive_en"}]})
    (held,) = opened.store.write(lambda session: session.documents.claim(model, 9, "gone", 1, 2**62))
    assert held.text == "e1 vive en e0"
    assert services.indexing.catch_up(services.collection, 0.0) == 0
    assert services.indexing.catch_up(services.collection, 0.0, facts=True) == 1
    opened.close()
