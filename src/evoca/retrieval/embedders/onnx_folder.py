"""Any sentence-transformer that was exported to ONNX: a folder with `model.onnx` and `tokenizer.json`.

Reads, where they exist: `modules.json` and `1_Pooling/config.json` (mean, cls or max), `sentence_bert_config.json` (the
window), `config_sentence_transformers.json` (the prompts `query` and `passage` or `document`). Needs the
extra `evoca[onnx]`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from evoca.retrieval.calibration import Calibration
from evoca.retrieval.embedders import unavailable
from evoca.retrieval.embedders.shared import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MODELS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
_WINDOW = 512
_BATCH = 8
_HINT = "Name a folder with model.onnx (or onnx/model.onnx) and tokenizer.json, and install `evoca[onnx]`."


class _Named(Protocol):
    name: str


class _Session(Protocol):
    def get_inputs(self) -> Sequence[_Named]: ...
    def run(self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]) -> Sequence[NDArray[np.float32]]: ...


class _Encoding(Protocol):
    ids: list[int]


class _Tokenizer(Protocol):
    def enable_truncation(self, max_length: int) -> None: ...
    def no_padding(self) -> None: ...
    def encode_batch(self, texts: list[str]) -> Sequence[_Encoding]: ...


class OnnxFolder:
    """The model in `folder`. Raises ModelUnavailable when something is missing or cannot be read."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        path = next((self._folder / name for name in _MODELS if (self._folder / name).is_file()), None)
        if path is None:
            raise unavailable(f"No ONNX model in {self._folder}.", _HINT)
        self._session, self._tokenizer = self._load(path)
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

    def _load(self, path: Path) -> tuple[_Session, _Tokenizer]:
        # Some builds of onnxruntime collect usage data from their import on, and send it.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            runtime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
        except ImportError as error:
            raise unavailable("onnxruntime and tokenizers are not installed.", _HINT) from error
        runtime.disable_telemetry_events()
        try:
            session = cast(_Session, runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"]))
            tokenizer = cast(_Tokenizer, tokenizers.Tokenizer.from_file(str(self._folder / "tokenizer.json")))
        except Exception as error:  # both raise their own classes, some of them bare Exception
            raise unavailable(f"{self._folder} cannot be loaded: {error}", _HINT) from error
        window = cast(int, self._read("sentence_bert_config.json").get("max_seq_length") or _WINDOW)
        tokenizer.enable_truncation(max_length=window)
        tokenizer.no_padding()
        return session, tokenizer

    def _read(self, name: str) -> Mapping[str, object]:
        path = self._folder / name
        if not path.is_file():
            return {}
        try:
            found: object = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise unavailable(f"{path} is not JSON.", _HINT) from error
        return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}

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
