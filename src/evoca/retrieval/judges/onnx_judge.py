"""A cross-encoder for natural-language inference that was exported to ONNX: a folder with model and tokenizer.

`config.json` names the labels (`id2label`); one of them must begin with `contradict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from evoca.retrieval.embedders.shared import clean
from evoca.retrieval.judges import unavailable
from evoca.retrieval.onnx import model_in, open_model, read_json

_WINDOW = 256


class OnnxJudge:
    """The model in `folder`. Raises ModelUnavailable when something is missing or cannot be read."""

    def __init__(self, folder: str) -> None:
        place = Path(folder).expanduser()
        path = model_in(place, unavailable)
        labels = read_json(place / "config.json", unavailable).get("id2label")
        names = cast("dict[str, str]", labels) if isinstance(labels, dict) else {}
        label = next((int(number) for number, name in names.items() if name.lower().startswith("contradict")), None)
        if label is None:
            raise unavailable(f"{place / 'config.json'} names no label `contradiction`.")
        self._label = label
        self._session, self._tokenizer = open_model(path, place, _WINDOW, unavailable)
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def contradictions(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One at a time: pairs are few, and padding would cost more than it saves."""
        return [self._judge(clean(older), clean(newer)) for older, newer in pairs]

    def _judge(self, older: str, newer: str) -> float:
        (encoding,) = self._tokenizer.encode_batch([(older, newer)])
        ids = encoding.ids or [0]
        feed = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "token_type_ids": np.array([encoding.type_ids or [0]], np.int64),
        }
        logits = self._session.run(None, {name: feed[name] for name in self._inputs if name in feed})[0][0]
        if self._label >= len(logits):
            raise unavailable(f"The model has {len(logits)} labels, config.json names a label {self._label}.")
        weights = np.exp(logits - logits.max())
        return float(weights[self._label] / weights.sum())
