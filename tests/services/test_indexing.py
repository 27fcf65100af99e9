"""The background indexer: pending rows become vectors, across kills, models and processes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

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
