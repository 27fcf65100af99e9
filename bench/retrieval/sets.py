"""Question sets: what is stored, what is asked, what should come back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from evoca.domain.clock import Instant

UNFAIR = {"adversarial"}
"""Categories whose questions are wrong on purpose; left out of a set's headline."""
BOTH = "mix"
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Document:
    """`session`: the sitting of a dialogue that a turn belongs to, empty for other texts; `at`: when that was."""

    id: str
    text: str
    title: str
    session: str = ""
    at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    wanted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One store's documents, and the questions to it."""

    name: str
    documents: Sequence[Document]
    questions: Sequence[Question]


def _lines(path: Path) -> list[Mapping[str, object]]:
    with path.open(encoding="utf-8") as file:
        return [cast("Mapping[str, object]", json.loads(line)) for line in file]


def _document(row: Mapping[str, object]) -> Document:
    """A turn of a dialogue is stored with its speaker and its photo's caption, everything else as it is."""
    text = str(row["text"])
    if "speaker" in row and not str(row["id"]).startswith("O"):
        caption = f" [photo: {row['caption']}]" if row.get("caption") else ""
        text = f"{row['speaker']}: {text}{caption}"
    at = datetime.strptime(str(row["date"]), _DATE).replace(tzinfo=UTC) if row.get("date") else None
    instant = None if at is None else int(at.timestamp() * 1_000_000)
    return Document(str(row["id"]), text, str(row.get("title") or ""), str(row.get("session") or ""), instant)


def load(folder: Path, name: str, most: int | None) -> list[Corpus]:
    """`NAME.docs.jsonl` (`c`, `id`, `text`) and `NAME.queries.jsonl` (`c`, `q`, `cat`, `rel`), a corpus for each `c`.

    `mix` is the corpus of all documents. `most`: only so many questions of each category, evenly spread.
    """
    documents: dict[str, list[Document]] = {}
    for row in _lines(folder / f"{name}.docs.jsonl"):
        documents.setdefault(str(row["c"]), []).append(_document(row))
    questions: dict[str, dict[str, list[Question]]] = {}
    for row in _lines(folder / f"{name}.queries.jsonl"):
        question = Question(str(row["q"]), str(row["cat"]), frozenset(cast("list[str]", row["rel"])))
        questions.setdefault(str(row["c"]), {}).setdefault(question.category, []).append(question)
    if BOTH in questions:
        documents[BOTH] = [document for each in documents.values() for document in each]
    return [
        Corpus(corpus, documents[corpus], [each for group in groups.values() for each in _spread(group, most)])
        for corpus, groups in sorted(questions.items())
    ]


def _spread(questions: list[Question], most: int | None) -> list[Question]:
    return questions if most is None else questions[:: max(1, len(questions) // most)][:most]
