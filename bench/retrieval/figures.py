"""Figures of a ranked answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

FIGURES = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr@10")


def figures(found: Sequence[str], wanted: frozenset[str]) -> dict[str, float]:
    """Of distinct ids, best first. Recall is the share of the wanted ones; nDCG has gains of one."""
    hits = [each in wanted for each in found]
    first = next((rank for rank, hit in enumerate(hits[:10], 1) if hit), None)
    gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits[:10], 1) if hit)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    return {
        "recall@1": sum(hits[:1]) / len(wanted),
        "recall@5": sum(hits[:5]) / len(wanted),
        "recall@10": sum(hits[:10]) / len(wanted),
        "ndcg@10": gained / ideal,
        "mrr@10": 1 / first if first else 0.0,
    }


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) / len(rows) for name in FIGURES}
