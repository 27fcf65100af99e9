"""A sentence transformer of a few bytes: one embedding table, written as ONNX by hand."""

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


def write(folder: Path, pooling: str = "mean") -> None:
    rows = table()
    node = _bytes(1, "table") + _bytes(1, "input_ids") + _bytes(2, "last_hidden_state") + _bytes(4, "Gather")
    tensor = b"".join(_number(1, dim) for dim in rows.shape) + _number(2, _FLOAT) + _bytes(8, "table")
    tensor += _bytes(9, struct.pack(f"<{rows.size}f", *rows.ravel()))
    graph = _bytes(1, node) + _bytes(2, "tiny") + _bytes(5, tensor)
    graph += _bytes(11, _value_info("input_ids", _INT64, ("batch", "tokens")))
    graph += _bytes(12, _value_info("last_hidden_state", _FLOAT, ("batch", "tokens", DIM)))
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()), "utf-8")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({f"pooling_mode_{pooling}_token": True}), "utf-8")
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), "utf-8")


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
