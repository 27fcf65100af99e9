"""Arrays that grow behind what was given out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoca.retrieval.columns import BLOCK, Bits, Column, Rows


def unit_rows(count: int, dim: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(st.lists(st.lists(st.integers(-9, 9), max_size=400), max_size=6), st.data())
def test_a_view_never_changes(batches: list[list[int]], data: st.DataObject) -> None:
    column: Column[np.int64] = Column(np.int64)
    expected: list[int] = []
    views: list[tuple[np.ndarray[tuple[int], np.dtype[np.int64]], list[int]]] = []
    for batch in batches:
        column.append(np.array(batch, np.int64))
        expected += batch
        if expected:
            at = data.draw(st.integers(0, len(expected) - 1))
            column.overwrite(np.array([at]), np.array([77]))
            expected[at] = 77
        views.append((column.view(), list(expected)))
    assert all(view.tolist() == values for view, values in views)
    assert len(column) == len(expected)


def test_rows_over_several_blocks_are_compared_and_read() -> None:
    given_rows = unit_rows(2 * BLOCK + 10, 8)
    rows = Rows(8)
    rows.append(given_rows[:5])
    early = rows.view()
    rows.append(given_rows[5:])
    view = rows.view()
    query = unit_rows(1, 8, seed=1)[0]
    assert view.cosines(view.scores(query)) == pytest.approx(given_rows @ query, abs=1e-6)
    assert early.cosines(early.scores(query)) == pytest.approx(given_rows[:5] @ query, abs=1e-6)
    at = np.array([0, BLOCK - 1, BLOCK, 2 * BLOCK + 9, 3])
    assert (view.rows(at) == given_rows[at]).all()


@pytest.mark.parametrize("dim", [384, 100])
def test_signs_estimate_cosines_and_eight_bits_keep_them(dim: int) -> None:
    given_rows = unit_rows(BLOCK + 50, dim)
    bits = Bits(dim, keep=True)
    bits.append(given_rows)
    view = bits.view()
    query = given_rows[7]
    exact = given_rows @ query
    estimated = view.cosines(view.scores(query))
    assert estimated[7] == pytest.approx(1.0)
    assert np.std(estimated - exact) < 1.6 / np.sqrt(dim)
    at = np.array([7, 0, BLOCK + 49])
    assert view.rows(at) @ query == pytest.approx(exact[at], abs=3e-3)
