"""Arrays that grow at their end while readers keep what they were given: the ground of immutable snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
_FIRST = 256
BLOCK = 4096
"""Rows of a block of vectors."""


class Column(Generic[Scalar]):
    """A one-dimensional array. Appending costs amortised O(1) a value; overwriting copies first."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._data: NDArray[Scalar] = np.empty(_FIRST, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, values: NDArray[Scalar]) -> None:
        size = self._size + len(values)
        if size > len(self._data):
            larger: NDArray[Scalar] = np.empty(max(size, 2 * len(self._data)), self._data.dtype)
            larger[: self._size] = self._data[: self._size]
            self._data = larger
        # Beyond the end of every view that was given out.
        self._data[self._size : size] = values
        self._size = size

    def overwrite(self, at: NDArray[np.int64], values: NDArray[Scalar]) -> None:
        if len(at):
            self._data = self._data.copy()
            self._data[at] = values

    def view(self) -> NDArray[Scalar]:
        """The values as they are now; never changes."""
        found = self._data[: self._size]
        found.flags.writeable = False
        return found


class Rows:
    """Float32 rows of `dim` in blocks, so that growing copies none of them. Never overwritten."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._blocks: list[NDArray[np.float32]] = []
        self._size = 0

    def append(self, rows: NDArray[np.float32]) -> None:
        done = 0
        while done < len(rows):
            inside = self._size % BLOCK
            if not inside:
                self._blocks.append(np.empty((BLOCK, self._dim), np.float32))
            count = min(BLOCK - inside, len(rows) - done)
            self._blocks[-1][inside : inside + count] = rows[done : done + count]
            self._size += count
            done += count

    def view(self) -> ExactVectors:
        return ExactVectors(tuple(self._blocks), self._size)


class ExactVectors:
    """A snapshot of float32 unit rows."""

    keeps_rows = True

    def __init__(self, blocks: tuple[NDArray[np.float32], ...], size: int) -> None:
        self._blocks = blocks
        self.size = size

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product of every row with a unit vector, shape (size,)."""
        found = np.empty(self.size, np.float32)
        for number, block in enumerate(self._blocks):
            begin = number * BLOCK
            end = min(begin + BLOCK, self.size)
            np.dot(block[: end - begin], query, out=found[begin:end])
        return found

    def cosines(self, scores: NDArray[np.float32] | NDArray[np.uint16]) -> NDArray[np.float32]:
        """Some of the scores as cosines, which they are."""
        return scores.astype(np.float32)

    def rows(self, at: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some rows, shape (len(at), dim)."""
        if not len(at):
            return np.empty((0, 0), np.float32)
        return _gather(self._blocks, at, self._blocks[0].shape[1])


class Bits:
    """One bit a dimension, the sign; word by word, so that a block is compared a word at a time.

    `keep`: eight bits a dimension are kept beside it, from which any row can be had again, nearly.
    """

    def __init__(self, dim: int, keep: bool) -> None:
        self._dim = dim
        self._words = -(-dim // 64)
        self._blocks: list[NDArray[np.uint64]] = []
        self._coarse: list[NDArray[np.int8]] | None = [] if keep else None
        self._size = 0

    def append(self, rows: NDArray[np.float32]) -> None:
        packed = pack_signs(rows)
        coarse = np.rint(rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0), 1e-9) * 127)
        done = 0
        while done < len(packed):
            inside = self._size % BLOCK
            if not inside:
                self._blocks.append(np.empty((self._words, BLOCK), np.uint64))
                if self._coarse is not None:
                    self._coarse.append(np.empty((BLOCK, self._dim), np.int8))
            count = min(BLOCK - inside, len(packed) - done)
            self._blocks[-1][:, inside : inside + count] = packed[done : done + count].T
            if self._coarse is not None:
                self._coarse[-1][inside : inside + count] = coarse[done : done + count]
            self._size += count
            done += count

    def view(self) -> BitVectors:
        coarse = None if self._coarse is None else tuple(self._coarse)
        return BitVectors(tuple(self._blocks), coarse, self._size, self._dim)


def pack_signs(rows: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Float rows (n, dim) → their signs as words, shape (n, ⌈dim/64⌉)."""
    packed = np.packbits(rows > 0, axis=1)
    missing = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, missing)))).view(np.uint64)


class BitVectors:
    """A snapshot of one-bit rows: cosines are estimates (± .06 at 384 dimensions)."""

    def __init__(
        self, blocks: tuple[NDArray[np.uint64], ...], coarse: tuple[NDArray[np.int8], ...] | None, size: int, dim: int
    ) -> None:
        self._blocks = blocks
        self._coarse = coarse
        self._dim = dim
        self.size = size

    @property
    def keeps_rows(self) -> bool:
        return self._coarse is not None

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.uint16]:
        """How many bits of every row are as the query's, and those that fill up its last word, shape (size,)."""
        unlike = ~pack_signs(query[None, :])[0][:, None]
        found = np.empty(self.size, np.uint16)
        for number, block in enumerate(self._blocks):
            begin = number * BLOCK
            end = min(begin + BLOCK, self.size)
            np.bitwise_count(block[:, : end - begin] ^ unlike).sum(axis=0, dtype=np.uint16, out=found[begin:end])
        return found

    def cosines(self, scores: NDArray[np.float32] | NDArray[np.uint16]) -> NDArray[np.float32]:
        """Some of the scores as estimates, cos(π · differing bits / dim): the angle that the signs suggest."""
        differing = -(-self._dim // 64) * 64 - scores.astype(np.int64)
        return np.cos(np.pi / self._dim * differing).astype(np.float32)

    def rows(self, at: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some rows from their eight bits, normalised, shape (len(at), dim); cosines are right to ± .001."""
        assert self._coarse is not None  # noqa: S101 - callers ask `keeps_rows`
        found = _gather(self._coarse, at, self._dim)
        found /= np.maximum(np.sqrt(np.einsum("ij,ij->i", found, found)), 1e-9)[:, None]
        return found


def _gather(
    blocks: Sequence[NDArray[np.float32] | NDArray[np.int8]], at: NDArray[np.int64], dim: int
) -> NDArray[np.float32]:
    """Some rows out of blocks, as float32."""
    order = np.argsort(at, kind="stable")
    ascending = at[order]
    found = np.empty((len(at), dim), np.float32)
    edges = np.searchsorted(ascending, np.arange(len(blocks) + 1) * BLOCK).tolist()
    for number, (begin, end) in enumerate(pairwise(edges)):
        if begin < end:
            found[order[begin:end]] = blocks[number][ascending[begin:end] - number * BLOCK]
    return found
