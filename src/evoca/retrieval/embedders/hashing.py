"""A stand-in for a model, without meaning: hashed words and letter triples. For tests and benches only.

Deterministic and fast (tens of microseconds a text). Texts that share words or spellings come out close, so the
whole path from indexing to ranking can be driven; a synonym or a translation is not found.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evoca.domain.text import analyse
from evoca.retrieval.calibration import Calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRIPLE_WEIGHT = 0.3


class HashEmbedder:
    """`dim` buckets, at least 8. Signed feature hashing (CRC-32): each feature adds ±weight to one bucket."""

    def __init__(self, dim: int = 256) -> None:
        if dim < 8:
            raise ValueError(f"a hash embedder needs at least 8 dimensions, not {dim}")
        self.dim = dim
        self.calibration: Calibration = Calibration.none(dim)
        self.model_id = f"hash/{dim}"

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for index, text in enumerate(texts):
            row = rows[index]
            for term in analyse(text).terms:
                self._add(row, term, 1.0)
                for begin in range(len(term) - 2):
                    self._add(row, term[begin : begin + 3], _TRIPLE_WEIGHT)
            norm = float(np.linalg.norm(row))
            if norm:
                rows[index] = row / norm
            else:
                row[0] = 1.0
        return rows

    def _add(self, row: NDArray[np.float32], feature: str, weight: float) -> None:
        number = zlib.crc32(feature.encode())
        row[(number >> 1) % self.dim] += weight if number & 1 else -weight
