"""Any sentence-transformer that was exported to ONNX: a folder with `model.onnx` and `tokenizer.json`.

Reads, where they exist: `modules.json` and `1_Pooling/config.json` (mean, cls or max), `sentence_bert_config.json` (the
window), `config_sentence_transformers.json` (the prompts `query` and `passage` or `document`). Needs the
extra `evoca[onnx]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from evoca.retrieval.calibration import Calibration
from evoca.retrieval.embedders import unavailable
from evoca.retrieval.embedders.shared import clean
from evoca.retrieval.onnx import model_in, open_model, read_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WINDOW = 512
_BATCH = 8


class OnnxFolder:
    """The model in `folder`. Raises ModelUnavailable when something is missing or cannot be read."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        path = model_in(self._folder, unavailable)
        window = cast(int, self._read("sentence_bert_config.json").get("max_seq_length") or _WINDOW)
        self._session, self._tokenizer = open_model(path, self._folder, window, unavailable)
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._pooling = self._read_pooling()
        prompts = cast("Mapping[str, str]", self._read("config_sentence_transformers.json").get("prompts") or {})
        self._query_prompt = prompts.get("query", "")
        self._passage_prompt = prompts.get("passage", prompts.get("document", ""))
        self.dim = int(self._run(["dimension"]).shape[1])
        self.calibration: Calibration = Calibration.none(self.dim)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.model_id = f"onnx/{digest[:16]}/{self._pooling}/{self.dim}"

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([self._query_prompt + clean(text) for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([self._passage_prompt + clean(text) for text in texts])

    def _read(self, name: str) -> Mapping[str, object]:
        return read_json(self._folder / name, unavailable)

    def _read_pooling(self) -> str:
        config = self._read("1_Pooling/config.json")
        for key, pooling in (("pooling_mode_cls_token", "cls"), ("pooling_mode_max_tokens", "max")):
            if config.get(key):
                return pooling
        return "mean"

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        rows = np.empty((len(texts), self.dim), np.float32)
        for begin in range(0, len(texts), _BATCH):
            rows[begin : begin + _BATCH] = self._run(texts[begin : begin + _BATCH])
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.maximum(norms, 1e-9)

    def _run(self, texts: list[str]) -> NDArray[np.float32]:
        encodings = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        width = max(1, *map(len, encodings))
        ids = np.zeros((len(texts), width), np.int64)
        mask = np.zeros_like(ids)
        for row, found in enumerate(encodings):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: feed[name] for name in self._inputs if name in feed})[0]
        return output if output.ndim == 2 else self._pool(output, mask.astype(np.float32)[:, :, None])

    def _pool(self, states: NDArray[np.float32], mask: NDArray[np.float32]) -> NDArray[np.float32]:
        """Token states (n, tokens, dim) → (n, dim)."""
        if self._pooling == "cls":
            return states[:, 0]
        if self._pooling == "max":
            return np.where(mask > 0, states, -np.inf).max(axis=1).astype(np.float32)
        return (states * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1.0)
