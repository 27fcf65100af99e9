"""The process's embedding model: loaded at first need, once; and the vectors of queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from evoca.domain.text import nfc, passages
from evoca.errors import ModelUnavailable
from evoca.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evoca.retrieval.embedders import Embedder

_REMEMBERED = 256
_QUERY_PASSAGES = 4
"""A longer query is embedded by its beginning and its end, this many passages in all."""


class Embedding:
    """Loads the embedder that the settings ask for, or another `spec`; safe for many threads."""

    def __init__(self, settings: Settings, spec: str | None = None) -> None:
        self._settings = settings
        self._spec = settings.embedder if spec is None else spec
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None
        self._failure: ModelUnavailable | None = None
        self._queries: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    @property
    def spec(self) -> str:
        """Which embedder this is, as the setting names it."""
        return self._spec

    def another(self, spec: str) -> Embedding:
        """The same settings with another embedder."""
        return Embedding(self._settings, spec)

    @property
    def wanted(self) -> bool:
        """False when meaning is switched off."""
        return self._spec != "none"

    @property
    def model_id(self) -> str | None:
        """The loaded model's id; None before it is loaded."""
        return None if self._embedder is None else self._embedder.model_id

    @property
    def problem(self) -> str:
        """Why there is no model, or empty."""
        return "" if self._failure is None else self._failure.message

    def load(self) -> Embedder:
        """The embedder. Raises ModelUnavailable, at once after the first time."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._embedder is None:
                from evoca.retrieval.embedders import load_embedder

                try:
                    self._embedder = load_embedder(self._spec, self._settings.embedder_model, self._key())
                except ModelUnavailable as error:
                    # The contract's sentence tells the way out itself.
                    self._failure = ModelUnavailable(f"{error.message} {error.hint}".strip())
                    raise self._failure from error
            return self._embedder

    def _key(self) -> str:
        key = self._settings.embedder_key
        return "" if key is None else key.get_secret_value()

    def query(self, text: str) -> NDArray[np.float32]:
        """A query's unit vector, shape (dim,). Raises ModelUnavailable."""
        embedder = self.load()
        text = nfc(text).strip()
        with self._lock:
            known = self._queries.get(text)
            if known is not None:
                self._queries.move_to_end(text)
                return known
        vector = _mean(embedder.embed_queries(_pieces(text)))
        with self._lock:
            self._queries[text] = vector
            if len(self._queries) > _REMEMBERED:
                self._queries.popitem(last=False)
        return vector


def _pieces(text: str) -> list[str]:
    pieces = [passage.text for passage in passages(text)] or [text]
    half = _QUERY_PASSAGES // 2
    return pieces if len(pieces) <= _QUERY_PASSAGES else pieces[:half] + pieces[-half:]


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    mean: NDArray[np.float32] = vectors.mean(axis=0)
    return (mean / max(float(np.linalg.norm(mean)), 1e-9)).astype(np.float32)
