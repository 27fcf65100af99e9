"""Substring search: literal, case folded for all of Unicode, accents counted."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoca.domain.graph import NewEntity, NewObservation
from evoca.domain.text import fold_case
from evoca.storage.contract import Session, Store
from tests.storage.given import entity, healthy


@pytest.mark.parametrize(
    ("text", "needle", "found"),
    [
        ("PEÑA ÁLAMO", "peña", True),
        ("PEÑA ÁLAMO", "pena", False),
        ("ΣΙΓΜΑ", "σιγμα", True),
        ("Straße", "STRASSE", True),
        ("100% de C++ y node.js", "100%", True),
        ("100 de", "100%", False),
        ("a_b", "a%b", False),
        ("axb", "a_b", False),
        ('dice "hola" OR (NOT)', '"hola" or (not', True),
        ("Cafe\u0301 solo", "café s", True),
        ("vuelo 🛫🛬🛩️ directo", "🛫🛬🛩", True),
        ("𝒜𝒷𝒸 matemática", "𝒷𝒸 m", True),
        ("línea\nsegunda\ttercera", "a\nsegunda\tt", True),
        ("它喜欢猫和狗", "猫和", True),
        ("it's", "'s", True),
        ("abcabcabd", "abcabd", True),
        ("abcab", "bcabc", False),
        ("İ\u0323z", "i\u0307", False),
        ("İz", "i\u0307z", True),
        ("ñandu\u0301", "ñandu", False),
    ],
)
def test_a_needle_is_found_as_it_is_spelled(store: Store, home: int, text: str, needle: str, found: bool) -> None:
    named, noted = entity(store, home, text), entity(store, home, "otra", "t", text)
    typed = entity(store, home, "tercera", text)
    expected = [named, noted, typed] if found else []
    assert store.read(lambda s: s.substrings.entities(home, needle)) == expected


def test_an_empty_needle_finds_everything_and_a_letter_scans(store: Store, home: int) -> None:
    ids = [entity(store, home, "Ana", "x", "vive"), entity(store, home, "Bo", "x"), entity(store, home, "ñu", "x")]
    found = store.read(lambda s: [s.substrings.entities(home, needle) for needle in ("", "N", "ve", "Ñ", "q")])
    assert found == [ids, [ids[0]], [ids[0]], [ids[2]], []]


def test_nothing_is_found_across_a_name_and_a_type(store: Store, home: int) -> None:
    entity(store, home, "abc", "def")
    assert store.read(lambda s: [s.substrings.entities(home, n) for n in ("abcdef", "bc\x1fde", "cde")]) == [[], [], []]


def test_collections_do_not_see_each_other(store: Store, home: int) -> None:
    other = store.write(lambda s: s.collections.create("obra", "Obra", "", 1)).id
    here, there = entity(store, home, "Pozo", "t", "agua clara"), entity(store, other, "Pozo", "t", "agua clara")
    assert store.read(lambda s: (s.substrings.entities(home, "clara"), s.substrings.entities(other, "po"))) == (
        [here],
        [there],
    )


def test_a_unit_of_work_finds_what_it_has_just_written(store: Store, home: int) -> None:
    old, gone = entity(store, home, "Pozo", "hondo"), entity(store, home, "Noria", "hondo")
    store.write(lambda s: s.entities.insert(home, [NewEntity(f"n{n}") for n in range(300)], 1))

    def work(session: Session) -> list[list[int]]:
        (made,) = session.entities.insert(home, [NewEntity("Molino")], 1)
        session.observations.insert(home, [NewObservation(made, "muele trigo")], 1)
        session.entities.update(old, "seco", "activo", 2)
        session.entities.delete([gone])
        return [session.substrings.entities(home, needle) for needle in ("trigo", "hondo", "seco")]

    trigo, hondo, seco = store.write(work)
    assert (len(trigo), hondo, seco) == (1, [], [old])
    assert store.read(lambda s: s.substrings.entities(home, "seco")) == [old]
    assert healthy(store)


def test_texts_are_found_before_and_after_they_are_indexed_in_lots(store: Store, home: int) -> None:
    """New texts are looked through until there are enough to index; then the index must know them all."""

    def add(first: int) -> list[int]:
        def work(session: Session) -> list[int]:
            made = session.entities.insert(home, [NewEntity(f"lote {first + i}") for i in range(100)], 1)
            session.observations.insert(home, [NewObservation(each, f"nota{each}.") for each in made], 1)
            return made

        return store.write(work)

    def found(needle: str) -> list[int]:
        return store.read(lambda s: s.substrings.entities(home, needle))

    ids: list[int] = []
    for first in range(0, 500, 100):
        ids += add(first)
        assert found("LOTE") == ids
        assert [found(f"nota{each}.") for each in ids] == [[each] for each in ids]
        gone, retyped, name = [ids.pop(3), ids.pop()], ids[0], f"tipo {first}"
        store.write(partial(_delete_and_retype, gone, retyped, name))
        assert found(name) == [retyped]
        assert found(f"nota{gone[0]}.") == []
        assert healthy(store)


def _delete_and_retype(gone: list[int], retyped: int, name: str, session: Session) -> None:
    session.entities.delete(gone)
    session.entities.update(retyped, name, "activo", 1)


_LETTERS = st.sampled_from(list("abcABC ñÑáß\u0301σςΣ🛫𝒷猫\"'*%_-\n"))
_TEXT = st.text(_LETTERS, min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(texts=st.lists(_TEXT, min_size=1, max_size=8), needles=st.lists(_TEXT, min_size=1, max_size=6))
def test_every_needle_finds_what_holds_it_and_nothing_else(
    store: Store, home: int, texts: list[str], needles: list[str]
) -> None:
    code = store.write(lambda s: str(s.documents.counter()))
    other = store.write(lambda s: s.collections.create(f"c{code}", "", "", 1)).id
    ids = [entity(store, other, f"{n}", "t", text) for n, text in enumerate(texts)]
    for needle in needles:
        holders = [
            number
            for n, (number, text) in enumerate(zip(ids, texts, strict=True))
            if any(fold_case(needle) in fold_case(hay) for hay in (f"{n}", "t", text))
        ]
        assert store.read(lambda s, needle=needle: s.substrings.entities(other, needle)) == holders
