"""How well contradictions between short statements are found: the project's own pairs, and how they are scored."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

PAIRS = Path(__file__).parent / "pairs.jsonl"


@dataclass(frozen=True, slots=True)
class Pair:
    """`older` and `newer` statements; `contradicts`: the second cannot be true with the first.

    `split`: `dev` or `test`, the same for a whole `group`. `language`: `es`, `en`, or `mix` for one text of each.
    """

    id: str
    split: str
    group: str
    language: str
    category: str
    contradicts: bool
    older: str
    newer: str


def own_pairs() -> list[Pair]:
    with PAIRS.open(encoding="utf-8") as lines:
        return [_pair(json.loads(line)) for line in lines]


def _pair(row: dict[str, str | int]) -> Pair:
    return Pair(
        id=str(row["id"]),
        split=str(row["split"]),
        group=str(row["g"]),
        language=str(row["lang"]),
        category=str(row["category"]),
        contradicts=row["y"] == 1,
        older=str(row["a"]),
        newer=str(row["b"]),
    )


def foreign_pairs(folder: Path) -> list[Pair]:
    """The pairs of `xnli-es.pairs.jsonl` and `xnli-en.pairs.jsonl` (keys `id`, `a`, `b`, `y`, `label`, `g`)."""
    found: list[Pair] = []
    for language in ("es", "en"):
        with (folder / f"xnli-{language}.pairs.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        found += [_pair({**row, "split": "xnli", "lang": language, "category": row["label"]}) for row in rows]
    return found


@dataclass(frozen=True, slots=True)
class Score:
    """How often a judge said `contradiction`, rightly (`hits`) and wrongly (`false`), and how often it should have."""

    pairs: int
    wanted: int
    hits: int
    false: int

    @property
    def precision(self) -> float:
        """NaN when it never said so."""
        said = self.hits + self.false
        return self.hits / said if said else math.nan

    @property
    def recall(self) -> float:
        """NaN when there was nothing to find."""
        return self.hits / self.wanted if self.wanted else math.nan


def score(pairs: Iterable[Pair], judge: Callable[[str, str], bool]) -> Score:
    verdicts = [(pair.contradicts, judge(pair.older, pair.newer)) for pair in pairs]
    return Score(
        pairs=len(verdicts),
        wanted=sum(wanted for wanted, _ in verdicts),
        hits=sum(wanted and said for wanted, said in verdicts),
        false=sum(said and not wanted for wanted, said in verdicts),
    )


def interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) for a share of nothing."""
    if not whole:
        return 0.0, 1.0
    z = 1.96
    share = part / whole
    middle = share + z * z / (2 * whole)
    spread = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return (middle - spread) / (1 + z * z / whole), (middle + spread) / (1 + z * z / whole)


def groups_of(pairs: Sequence[Pair], key: Callable[[Pair], str]) -> dict[str, list[Pair]]:
    """The pairs by a key, keys in order."""
    found: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=key):
        found.setdefault(key(pair), []).append(pair)
    return found
