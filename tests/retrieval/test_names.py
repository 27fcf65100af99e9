"""Names spelled alike, and that an index of them follows the graph."""

from __future__ import annotations

import pytest

from evoca.retrieval.names import LEAST, NameIndex, SimilarName
from tests.retrieval.shelf import NOW, Shelf

NAMES = ("user:maya", "user:mayra", "project:alpha", "project:beta", "José Núñez", "Acme Corp", "Maya")


@pytest.fixture
def index(shelf: Shelf) -> NameIndex:
    for name in NAMES:
        shelf.put(name)
    return NameIndex()


def similar(shelf: Shelf, index: NameIndex, text: str, most: int = 5) -> list[SimilarName]:
    return shelf.store.read(lambda session: index.similar(session, shelf.home, text, most))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user:maia", ["user:maya", "Maya", "user:mayra"]),
        ("users:maya", ["Maya", "user:maya", "user:mayra"]),
        ("maya", ["Maya", "user:maya", "user:mayra"]),
        ("JOSE NUNEZ", ["José Núñez"]),
        ("acme corporation", ["Acme Corp"]),
        ("project:alpa", ["project:alpha"]),
        ("robot:zzz", []),
        ("", []),
    ],
)
def test_names_are_found_without_case_and_accents(
    shelf: Shelf, index: NameIndex, text: str, expected: list[str]
) -> None:
    assert [each.name for each in similar(shelf, index, text)] == expected


def test_of_one_type_only_the_ids_are_compared(shelf: Shelf, index: NameIndex) -> None:
    assert "project:beta" not in [each.name for each in similar(shelf, index, "project:alpha")]


def test_likeness_is_bounded_and_falls(shelf: Shelf, index: NameIndex) -> None:
    found = similar(shelf, index, "user:maya")
    assert [each.likeness for each in found] == sorted((each.likeness for each in found), reverse=True)
    assert all(LEAST <= each.likeness <= 1 for each in found)
    assert found[0].likeness == 1
    assert len(similar(shelf, index, "user:maya", most=1)) == 1


def test_the_index_follows_the_graph(shelf: Shelf, index: NameIndex) -> None:
    assert [each.name for each in similar(shelf, index, "zoraida")] == []
    made = shelf.put("Zoraida")
    shelf.store.write(lambda session: session.collections.bump(shelf.home))
    assert [each.id for each in similar(shelf, index, "zoraida")] == [made]
    shelf.store.write(lambda session: session.entities.rename(made, "Ximena", NOW))
    shelf.store.write(lambda session: session.collections.bump(shelf.home))
    assert similar(shelf, index, "zoraida") == []
    shelf.store.write(lambda session: session.entities.delete([made]))
    shelf.store.write(lambda session: session.collections.bump(shelf.home))
    assert similar(shelf, index, "ximena") == []


def test_collections_have_names_of_their_own(shelf: Shelf, index: NameIndex) -> None:
    other = shelf.store.write(lambda session: session.collections.create("obra", "Obra", "", NOW)).id
    shelf.put("Zoraida", collection=other)
    assert similar(shelf, index, "zoraida") == []
    assert [each.name for each in shelf.store.read(lambda s: index.similar(s, other, "zoraida", 5))] == ["Zoraida"]
