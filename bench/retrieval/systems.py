"""What is compared: Evoca through its library, and plain baselines over the same texts and vectors."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from bench.retrieval.sets import Corpus, Document
from evoca.domain.clock import FrozenClock
from evoca.domain.text import analyse, passages, query_terms
from evoca.memory import EntityData, Memory
from evoca.retrieval.embedders import Embedder
from evoca.runtime import Runtime
from evoca.settings import load_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

Search = Callable[[str], Sequence[str]]
"""A question → document ids, best first."""
DEPTH = 50
_BATCH = 50


def evoca(corpus: Corpus, titles: bool) -> tuple[Search, Callable[[], None]]:
    """A fresh store with an entity for each document, and how to close it.

    An entity's name is the document's title if `titles`, else its bare id; its one observation is the text.
    """
    folder = tempfile.TemporaryDirectory(prefix="evoca-bench-")
    memory = Memory(Path(folder.name) / "memory.db")
    ids = _named(corpus.documents, titles)
    entities: list[EntityData] = [
        {"name": name, "observations": [document.text]} for name, document in zip(ids, corpus.documents, strict=True)
    ]
    for begin in range(0, len(entities), _BATCH):
        memory.create_entities(entities[begin : begin + _BATCH])

    def search(question: str) -> list[str]:
        found = memory.search_semantic(question, limit=DEPTH, track=False)
        return [ids[result["name"]] for result in found["results"]]

    def close() -> None:
        memory.close()
        folder.cleanup()

    return search, close


def episodes(corpus: Corpus) -> tuple[Search, Callable[[], None]]:
    """A fresh store with a memory for each document, in order, each in its session and at its time."""
    folder = tempfile.TemporaryDirectory(prefix="evoca-bench-")
    clock = FrozenClock(0)
    runtime = Runtime(load_settings(store=str(Path(folder.name) / "memory.db")), clock)
    tools = {operation.name: operation for operation in runtime.catalogue}
    ids: dict[int, str] = {}
    for document in corpus.documents:
        clock.advance(max(0, (document.at or 0) - clock.now()))
        given = {"content": document.text, "session_id": document.session, "force": True}
        ids[cast("int", runtime.call(tools["save_hipocampo"], given)["id"])] = document.id

    def search(question: str) -> list[str]:
        found = runtime.call(tools["search_hipocampo"], {"query": question, "limit": DEPTH})
        return [ids[memory["id"]] for memory in cast("list[dict[str, int]]", found["memories"])]

    def close() -> None:
        runtime.close()
        folder.cleanup()

    return search, close


def _named(documents: Sequence[Document], titles: bool) -> dict[str, str]:
    names: dict[str, str] = {}
    for document in documents:
        name = document.title if titles else ""
        names[name if name and name not in names else f"item {document.id}"] = document.id
    return names


class Baselines:
    """BM25 (k1 1.2, b .75, stems), raw cosines, and their reciprocal ranks (k = 60, the best 100 of each)."""

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        self._ids = [document.id for document in corpus.documents]
        self._embedder = embedder
        counts = [Counter(analyse(document.text).terms) for document in corpus.documents]
        self._lengths = np.array([sum(count.values()) for count in counts], float)
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for term, times in count.items():
                self._postings[term].append((number, times))
        pieces = [[piece.text for piece in passages(document.text)] for document in corpus.documents]
        self._owners = np.repeat(np.arange(len(pieces)), [len(each) for each in pieces])
        self._vectors = embedder.embed_passages([piece for each in pieces for piece in each])

    def words(self, question: str) -> NDArray[np.float64]:
        scores = np.zeros(len(self._ids))
        norm = 1.2 * (0.25 + 0.75 * self._lengths / self._lengths.mean())
        for term in query_terms(question):
            times = np.zeros(len(self._ids))
            for alternative in term.alternatives:
                for number, count in self._postings.get(alternative, ()):
                    times[number] = max(times[number], count)
            holding = np.count_nonzero(times)
            idf = np.log1p((len(times) - holding + 0.5) / (holding + 0.5))
            scores += idf * times * 2.2 / (times + norm)
        return scores

    def meaning(self, question: str) -> NDArray[np.float64]:
        best = np.full(len(self._ids), -1.0)
        np.maximum.at(best, self._owners, self._vectors @ self._embedder.embed_queries([question])[0])
        return best

    def searches(self) -> dict[str, Search]:
        def by(score: Callable[[str], NDArray[np.float64]]) -> Search:
            def search(question: str) -> list[str]:
                return [self._ids[at] for at in np.argsort(-score(question), kind="stable")[:DEPTH].tolist()]

            return search

        return {"bm25": by(self.words), "dense": by(self.meaning), "rrf": by(self._reciprocal)}

    def _reciprocal(self, question: str) -> NDArray[np.float64]:
        words, meaning = self.words(question), self.meaning(question)
        return _reciprocal(words) * (words > 0) + _reciprocal(meaning)


def _reciprocal(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(ranks <= 100, 1 / (60 + ranks), 0.0)
