"""A sentence transformer and an inference model of a few bytes: one table each, written as ONNX by hand."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WORDS = ("[UNK]", "faro", "luz", "lighthouse", "query:", "passage:")
DIM = 4
_FLOAT, _INT64 = 1, 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _value_info(name: str, kind: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, dim) if isinstance(dim, str) else _number(1, dim)) for dim in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def table() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The row of each word of `WORDS`."""
    rows = np.eye(len(WORDS), DIM, dtype=np.float32)
    rows[3] = rows[1]
    rows[4:] = (0, 0, 0, 1), (0, 0, 1, 0)
    return rows


def _node(operator: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(_bytes(1, each) for each in inputs) + _bytes(2, output) + _bytes(4, operator) + attributes


def _write(
    folder: Path,
    rows: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    nodes: Sequence[bytes],
    output: tuple[str, Sequence[str | int]],
) -> None:
    """A model whose nodes read `input_ids` and the tensor `table`, and a tokenizer."""
    tensor = b"".join(_number(1, dim) for dim in rows.shape) + _number(2, _FLOAT) + _bytes(8, "table")
    tensor += _bytes(9, struct.pack(f"<{rows.size}f", *rows.ravel()))
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "tiny") + _bytes(5, tensor)
    graph += _bytes(11, _value_info("input_ids", _INT64, ("batch", "tokens")))
    graph += _bytes(12, _value_info(output[0], _FLOAT, output[1]))
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()), "utf-8")


def write(folder: Path, pooling: str = "mean") -> None:
    nodes = [_node("Gather", ("table", "input_ids"), "last_hidden_state")]
    _write(folder, table(), nodes, ("last_hidden_state", ("batch", "tokens", DIM)))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}_token": True}), "utf-8")
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), "utf-8")


def write_judge(folder: Path, labels: Sequence[str] = ("entailment", "neutral", "contradiction")) -> None:
    """An inference model that finds a contradiction where `faro` stands, and else entailment."""
    rows = np.zeros((len(WORDS), 3), np.float32)
    rows[:, 0] = 6.0
    rows[WORDS.index("faro")] = (0.0, 0.0, 600.0)
    axes = _bytes(5, _bytes(1, "axes") + _number(8, 1) + _number(20, 7))
    kept = _bytes(5, _bytes(1, "keepdims") + _number(3, 0) + _number(20, 2))
    nodes = [
        _node("Gather", ("table", "input_ids"), "rows"),
        _node("ReduceMean", ("rows",), "logits", axes + kept),
    ]
    _write(folder, rows, nodes, ("logits", ("batch", 3)))
    names = {str(number): label for number, label in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps({"id2label": names}), "utf-8")


def _tokenizer() -> dict[str, object]:
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }
