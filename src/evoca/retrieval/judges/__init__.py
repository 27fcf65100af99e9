"""A second opinion on contradictions: a local model of natural-language inference, where a person has set one.

The rules of `domain.contradictions` come first; a judge is asked only about pairs of which they say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evoca.domain.contradictions import Contradiction, audit
from evoca.domain.differences import Reading, differences
from evoca.errors import ModelUnavailable

JUDGED = 0.9
"""Both ways round the model must be so sure that two texts contradict each other."""
TRUST = 0.7
"""The confidence of what only a model says: below that from which on a newer memory takes an older one's place."""


class Judge(Protocol):
    """Pairs of texts → the probability, in [0, 1], that the second contradicts the first. Raises ModelUnavailable."""

    def contradictions(self, pairs: Sequence[tuple[str, str]]) -> list[float]: ...


def load_judge(spec: str) -> Judge:
    """The judge that `spec` asks for: `onnx:FOLDER`, a sequence classifier with a label `contradiction`.

    Raises ModelUnavailable.
    """
    kind, _, folder = spec.partition(":")
    if kind != "onnx" or not folder:
        raise unavailable(f"Unknown judge {spec!r}.")
    from evoca.retrieval.judges.onnx_judge import OnnxJudge

    return OnnxJudge(folder)


def unavailable(reason: str, hint: str = "Set EVOCA_JUDGE to onnx:FOLDER, or leave it out.") -> ModelUnavailable:
    return ModelUnavailable(f"The judge of contradictions is not available. {reason}", hint)


def second_opinion(judge: Judge, older: str, newer: str) -> Contradiction | None:
    """What the judge alone makes of two texts. Raises ModelUnavailable."""
    sure = min(judge.contradictions([(older, newer), (newer, older)]))
    if sure < JUDGED:
        return None
    differs_in = differences(Reading(older), Reading(newer))
    return Contradiction(round(TRUST * sure, 2), "judged", differs_in or ("name",), "", "")


def audited(older: str, newer: str, similarity: float | None, judge: Judge) -> Contradiction | None:
    """What the rules find, else what the judge says. Raises ModelUnavailable."""
    return audit(older, newer, similarity) or second_opinion(judge, older, newer)
