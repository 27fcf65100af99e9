"""A memory whose clock stands still until it is told to move, worked through its tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self, cast

from evoca.domain.clock import DAY, FrozenClock, from_iso
from evoca.domain.episodes import Episode
from evoca.operations.catalogue import CATALOGUE
from evoca.retrieval.index import pack_vectors
from evoca.runtime import Runtime
from evoca.services.enriching import EnrichingService
from evoca.services.serving import Serving
from evoca.services.traits import Traits
from evoca.settings import load_settings
from evoca.storage.contract import NewVector, Session

START = from_iso("2026-03-01T10:00:00Z")
_TOOLS = {operation.name: operation for operation in CATALOGUE}


class Ageing:
    """`embedder`: as the setting; vectors are made when `embed` is called."""

    def __init__(self, folder: Path, embedder: str = "none") -> None:
        self.clock = FrozenClock(START)
        settings = load_settings(store=str(folder / "memory.db"), embedder=embedder, indexer=False)
        self.runtime = Runtime(settings, clock=self.clock)
        self.collection = self.runtime.services().collection
        serving = Serving(self.runtime.store, self.runtime.services().embedding)
        self._enriching = EnrichingService(self.runtime.store, self.clock, serving, Traits(), "test")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.runtime.close()

    def call(self, name: str, **given: object) -> Mapping[str, object]:
        return self.runtime.call(_TOOLS[name], given)

    def save(self, content: str, **given: object) -> int:
        return cast("int", self.call("save_hipocampo", content=content, force=True, **given)["id"])

    def days(self, count: float) -> None:
        self.clock.advance(int(count * DAY))

    def embed(self) -> None:
        """What the indexer's thread does, in this one and to the end."""
        embedder = self.runtime.services().embedding.load()
        now = self.clock.now()

        def work(session: Session) -> None:
            session.documents.register_model(embedder.model_id, now)
            batch = session.documents.claim(embedder.model_id, 10_000, "test", now, now + 1)
            packed = pack_vectors(embedder.embed_passages([each.text for each in batch])) if batch else []
            rows = [NewVector(each.id, each.content_hash, vector) for each, vector in zip(batch, packed, strict=True)]
            session.documents.store_vectors(embedder.model_id, rows)

        self.runtime.store.write(work)
        while self._enriching.due(embedder.model_id):
            self._enriching.work(embedder)

    def row(self, number: int) -> Episode:
        return self.rows([number])[number]

    def rows(self, numbers: list[int]) -> dict[int, Episode]:
        return self.runtime.store.read(lambda session: session.episodes.by_ids(self.collection, numbers))

    def found(self, query: str) -> list[int]:
        hits = cast("list[Mapping[str, int]]", self.call("search_hipocampo", query=query)["memories"])
        return [hit["id"] for hit in hits]

    def both(self, name: str, **given: object) -> tuple[list[int], Mapping[str, object]]:
        """Try a process, run it, run it again: the first tells what the second does, the third finds nothing.

        Returns the changed ids and the reply of the real run.
        """
        dry = self.call(name, dry_run=True, **given)
        real = self.call(name, dry_run=False, **given)
        again = self.call(name, dry_run=False, **given)
        assert dry["candidates"] == real["candidates"]
        changed = cast("list[int]", real["changed"])
        assert changed == [each["id"] for each in cast("list[Mapping[str, int]]", real["candidates"])]
        assert "changed" not in dry
        assert (dry["dry_run"], real["dry_run"]) == (True, False)
        assert again["candidates"] == again["changed"] == []
        return changed, real
