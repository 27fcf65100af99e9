"""Retrieval quality of the production path, with plain baselines beside it.

    python -m bench.retrieval --data FOLDER --cache FOLDER [--set NAME ...] [--most N] [--titles | --memories]
        [--json FILE]

For each set (`NAME.docs.jsonl`, `NAME.queries.jsonl` in FOLDER) and each corpus in it: a fresh store is filled through
the library, every question is asked with `search_semantic`, and recall, nDCG and MRR are printed beside those of BM25,
of cosines and of plain reciprocal rank fusion over the same texts and vectors. Vectors are kept in the cache folder.
With `--memories` texts are stored as memories and asked for with `search_hipocampo`: a sitting of a dialogue is a
session, its turns keep their order and date.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from bench.retrieval.cached import CachedEmbedder
from bench.retrieval.figures import FIGURES, figures, mean
from bench.retrieval.sets import UNFAIR, load
from bench.retrieval.systems import Baselines, episodes, evoca
from evoca.retrieval import embedders

Rows = dict[str, dict[str, list[dict[str, float]]]]
"""System → category → the figures of each question."""


def measure(folder: Path, name: str, most: int | None, titles: bool, memories: bool, embedder: CachedEmbedder) -> Rows:
    rows: Rows = {}
    for corpus in load(folder, name, most):
        search, close = episodes(corpus) if memories else evoca(corpus, titles)
        systems = {**Baselines(corpus, embedder).searches(), "evoca": search}
        for question in corpus.questions:
            for system, find in systems.items():
                found = figures(find(question.text), question.wanted)
                rows.setdefault(system, {}).setdefault(question.category, []).append(found)
        close()
    return rows


def headline(categories: dict[str, list[dict[str, float]]]) -> list[dict[str, float]]:
    return [row for category, found in categories.items() if category not in UNFAIR for row in found]


def show(name: str, rows: Rows) -> None:
    print(f"\n{name:18}{'n':>6}" + "".join(f"{figure:>11}" for figure in FIGURES))
    for system, categories in rows.items():
        _line(system, headline(categories))
    for category in sorted(rows["evoca"]):
        for system in rows:
            _line(f"  {category} {system}", rows[system][category])


def _line(label: str, found: Sequence[dict[str, float]]) -> None:
    print(f"{label:24.24}{len(found):>6}" + "".join(f"{value:>11.3f}" for value in mean(found).values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], dest="sets", help="default: all in the folder")
    parser.add_argument("--most", type=int, help="questions of a category in a corpus")
    parser.add_argument("--titles", action="store_true", help="name entities by their titles")
    parser.add_argument("--memories", action="store_true", help="store texts as memories, search with search_hipocampo")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    # The library's own loading is kept; only its vectors come from the cache.
    cached = CachedEmbedder(embedders.load_embedder(arguments.embedder), arguments.cache)
    embedders.load_embedder = lambda spec, model="", key="": cached  # noqa: ARG005 - the signature that is replaced
    os.environ.update(EVOCA_CATCH_UP="60", EVOCA_INDEXER_REST="0", EVOCA_INDEXER_BATCH="256")
    sets = arguments.sets or sorted(
        path.name.removesuffix(".docs.jsonl") for path in arguments.data.glob("*.docs.jsonl")
    )
    summary: dict[str, object] = {}
    for name in sets:
        rows = measure(arguments.data, name, arguments.most, arguments.titles, arguments.memories, cached)
        show(name, rows)
        summary[name] = {
            system: {"all": mean(headline(found)), **{each: mean(part) for each, part in found.items()}}
            for system, found in rows.items()
        }
    if arguments.json:
        arguments.json.write_text(json.dumps({"model": cached.model_id, "sets": summary}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
