"""Folders with a model exported to ONNX and its tokenizer; needs the extra `evoca[onnx]`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from evoca.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODELS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
HINT = "Name a folder with model.onnx (or onnx/model.onnx) and tokenizer.json, and install `evoca[onnx]`."

Fault = Callable[[str, str], ModelUnavailable]
"""Makes the error of a reason and a hint."""


class _Named(Protocol):
    name: str


class OnnxSession(Protocol):
    def get_inputs(self) -> Sequence[_Named]: ...
    def run(self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]) -> Sequence[NDArray[np.float32]]: ...


class Encoding(Protocol):
    ids: list[int]
    type_ids: list[int]


class Tokenizer(Protocol):
    def enable_truncation(self, max_length: int) -> None: ...
    def no_padding(self) -> None: ...
    def encode_batch(self, input: Sequence[str] | Sequence[tuple[str, str]]) -> Sequence[Encoding]: ...


def model_in(folder: Path, fault: Fault) -> Path:
    """The folder's model. Raises what `fault` makes when there is none."""
    path = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
    if path is None:
        raise fault(f"No ONNX model in {folder}.", HINT)
    return path


def open_model(path: Path, folder: Path, window: int, fault: Fault) -> tuple[OnnxSession, Tokenizer]:
    """The model, and the folder's tokenizer, which cuts texts at `window` tokens. Raises what `fault` makes."""
    # Some builds of onnxruntime collect usage data from their import on, and send it.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        runtime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
    except ImportError as error:
        raise fault("onnxruntime and tokenizers are not installed.", HINT) from error
    runtime.disable_telemetry_events()
    try:
        session = cast(OnnxSession, runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"]))
        tokenizer = cast(Tokenizer, tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")))
    except Exception as error:  # both raise their own classes, some of them bare Exception
        raise fault(f"{folder} cannot be loaded: {error}", HINT) from error
    tokenizer.enable_truncation(max_length=window)
    tokenizer.no_padding()
    return session, tokenizer


def read_json(path: Path, fault: Fault) -> Mapping[str, object]:
    """The object in a file; empty when there is no such file, or no object in it. Raises what `fault` makes."""
    if not path.is_file():
        return {}
    try:
        found: object = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise fault(f"{path} is not JSON.", HINT) from error
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}
