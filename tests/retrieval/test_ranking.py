"""Entities for a query, with the stand-in embedder."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoca.retrieval.index import Limits
from evoca.retrieval.ranking import MOST, Retriever
from evoca.storage.contract import Session
from tests.retrieval.shelf import Shelf

PLAIN = {
    "hook": "El hook pre-commit tarda",
    "lenguajes": "Aprende C++ y node.js",
    "ruta": "ruta src/app/main.py",
    "disco": "velocidad 3,5 GB/s",
    "precio": "sube 100% seguro",
    "campaña": "Campaña política de otoño",
    "luz": "Reunión con la compañía eléctrica",
    "bar": "El café está caliente",
}


@pytest.fixture
def plain(shelf: Shelf) -> Shelf:
    for name, text in PLAIN.items():
        shelf.put(f"nota {name}", text)
    return shelf


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("pre-commit", "hook"),
        ("-commit", "hook"),
        ("C++", "lenguajes"),
        ("node.js", "lenguajes"),
        ("src/app/main.py", "ruta"),
        ("GB/s", "disco"),
        ("3,5", "disco"),
        ("100%", "precio"),
        ("campana politica", "campaña"),
        ("reunion electrica", "luz"),
        ("cafe", "bar"),
        ("CAFÉ", "bar"),
        ("Compañia", "luz"),
    ],
)
@pytest.mark.parametrize("embedded", [False, True])
def test_a_text_is_found_by_its_words(plain: Shelf, query: str, first: str, embedded: bool) -> None:
    if embedded:
        plain.embed()
    assert plain.found(query)[0] == f"nota {first}"
    assert plain.found(query, by_meaning=False)[0] == f"nota {first}"


def test_words_may_stand_in_different_texts_and_in_any_order(shelf: Shelf) -> None:
    shelf.put("Proyecto Faro", "Reunión semanal: lunes 9:00", "Responsable de compras: Nuria")
    shelf.put("Otro", "Reunión de vecinos", "compras del mes")
    for query in ("reunión lunes", "lunes reunión", "compras responsable", "faro nuria", "semanal: lun"):
        assert shelf.found(query, by_meaning=False)[0] == "Proyecto Faro"


def test_all_words_come_before_some_words(shelf: Shelf) -> None:
    shelf.put("some", "faro faro faro faro faro")
    shelf.put("all", "una frase larga que entre muchas otras cosas nombra el faro y también a Nuria sin más")
    assert shelf.found("faro Nuria", by_meaning=False) == ["all", "some"]


@pytest.mark.parametrize(
    ("query", "order"), [("campana", ["plain", "tilde"]), ("campaña", ["tilde", "plain"]), ("C++", ["plus", "bare"])]
)
def test_exact_spelling_comes_first(shelf: Shelf, query: str, order: list[str]) -> None:
    shelf.put("tilde", "suena la campaña")
    shelf.put("plain", "suena la campana")
    shelf.put("bare", "programa en C")
    shelf.put("plus", "programa en C++")
    assert shelf.found(query, by_meaning=False) == order
    shelf.embed()
    assert shelf.found(query)[:2] == order


def test_what_was_just_saved_is_found_before_it_has_a_vector(shelf: Shelf) -> None:
    shelf.put("viejo", "un texto cualquiera")
    shelf.embed()
    shelf.put("nuevo", "El código del taller es 4471-K")
    ranking = shelf.rank("código del taller")
    first = ranking.candidates[0]
    assert shelf.names[first.entity_id] == "nuevo"
    assert (first.distance, first.meaning) == (None, None)
    assert first.rrf_score == pytest.approx(1 / 61)
    assert first.relevance > 0.3
    assert ranking.pending == 2


def test_where_no_word_matches_relevance_is_the_similarity(shelf: Shelf) -> None:
    shelf.put("faro", "lighthouse keepers")
    shelf.put("pan", "bakery")
    shelf.embed()
    ranking = shelf.rank("lightship")
    assert not ranking.hybrid
    for candidate in ranking.candidates:
        assert candidate.distance is not None
        assert candidate.relevance == max(0.0, 1.0 - candidate.distance)
        assert candidate.rrf_score is None
    assert shelf.named(ranking.candidates)[0] == "faro"


def test_first_by_words_and_by_meaning_has_both_reciprocal_ranks(shelf: Shelf) -> None:
    shelf.put("faro", "lighthouse keepers")
    shelf.put("pan", "bakery")
    shelf.embed()
    ranking = shelf.rank("lighthouse keepers")
    assert ranking.hybrid
    assert ranking.candidates[0].rrf_score == pytest.approx(2 / 61)
    assert ranking.candidates[1].rrf_score == pytest.approx(1 / 62)


def test_only_the_allowed_are_ranked(plain: Shelf) -> None:
    plain.embed()
    wanted = {entity for entity, name in plain.names.items() if name in ("nota bar", "nota luz")}
    ranking = plain.rank("el hook", allowed=wanted)
    assert {candidate.entity_id for candidate in ranking.candidates} == wanted
    assert not ranking.hybrid
    assert plain.rank("el hook", allowed=set()).candidates == ()


def test_an_empty_collection_and_an_empty_query_give_nothing_and_no_error(shelf: Shelf) -> None:
    assert shelf.rank("nada").candidates == ()
    shelf.put("algo", "texto")
    assert shelf.rank("¿?", by_meaning=False).candidates == ()


def test_a_long_text_is_found_by_its_end(shelf: Shelf) -> None:
    shelf.put("jardín", "El jardín crece. " * 900 + "La contraseña la guarda el portero del número 4")
    for number in range(20):
        shelf.put(f"otro {number}", f"otra nota sobre el jardín {number}")
    shelf.embed(10_000)
    assert shelf.found("contraseña del portero")[0] == "jardín"


@pytest.mark.parametrize("others", [2, 9, 49])
def test_in_a_small_store_what_holds_all_words_comes_before_what_holds_none(shelf: Shelf, others: int) -> None:
    filler = "Las plantas del jardín necesitan agua y sol en primavera. " * 60
    shelf.put("jardín", filler + "La contraseña del almacén la guarda el portero del número 4.")
    for number in range(others):
        shelf.put(f"nota {number}", f"El perro número {number} del faro ladra")
    shelf.embed(10_000)
    ranking = shelf.rank("contraseña almacén portero")
    assert shelf.named(ranking.candidates)[0] == "jardín"
    assert ranking.candidates[0].relevance > 0.82
    assert ranking.candidates[1].relevance < 0.1


def test_a_text_is_no_less_relevant_whatever_else_its_entity_says(shelf: Shelf) -> None:
    terse = shelf.put("terse", "the spare key of the boathouse hangs behind the stove")
    for number in range(6):
        shelf.put(f"other {number}", f"{number} chairs were ordered for the meeting")
    shelf.embed()
    (before,) = [each for each in shelf.rank("stove key spare").candidates if each.entity_id == terse]
    for number in range(60):
        shelf.add(terse, f"the spare key of the boathouse was painted in winter {number}")
    shelf.embed()
    (after,) = [each for each in shelf.rank("stove key spare").candidates if each.entity_id == terse]
    assert after.best_document == before.best_document
    assert after.relevance > before.relevance - 0.01


def test_the_explanation_adds_up_to_the_words(shelf: Shelf) -> None:
    faro = shelf.put("Proyecto Faro", "Reunión semanal: lunes", "Responsable de compras: Nuria")
    for number in range(5):
        shelf.put(f"otro {number}", "nada que ver")
    ranking = shelf.rank("reunión Nuria zapato", by_meaning=False)
    first = ranking.candidates[0]
    explanation = ranking.explain(first)
    assert first.entity_id == faro
    assert {part.word for part in explanation.terms} == {"reunion", "nuria"}
    assert sum(part.weight for part in explanation.terms) == pytest.approx(first.words)
    assert len({part.document for part in explanation.terms}) == 2
    assert 0 < explanation.spelling < 1


def test_a_session_that_is_behind_gets_only_what_it_knows(shelf: Shelf) -> None:
    old = shelf.put("viejo", "el faro")

    def later_change() -> None:
        shelf.put("nuevo", "el faro")
        shelf.embed()
        assert len(shelf.rank("faro").candidates) == 2

    def work(session: Session) -> list[int]:
        session.documents.counter()
        meanwhile = threading.Thread(target=later_change)
        meanwhile.start()
        meanwhile.join()
        vector = shelf.embedder.embed_queries(["faro"])[0]
        found = shelf.retriever.entities(session, shelf.home, "faro", vector)
        return [candidate.entity_id for candidate in found.candidates]

    assert shelf.store.read(work) == [old]


SENTENCES = st.lists(
    st.lists(st.sampled_from("faro luz mar noche Nuria compras lunes the keeper light of año".split()), min_size=1).map(
        " ".join
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SENTENCES, min_size=1, max_size=6), st.integers(0, 12), st.booleans())
def test_rankings_are_finite_bounded_ordered_and_the_same_each_time(
    shelf: Shelf, entities: list[list[str]], embedded: int, by_meaning: bool
) -> None:
    for texts in entities:
        shelf.put(f"entidad {len(shelf.names)}", *texts)
    shelf.embed(embedded)
    ranking = shelf.rank("luz del faro de noche", by_meaning=by_meaning)
    again = shelf.rank("luz del faro de noche", by_meaning=by_meaning, retriever=shelf.afresh())
    order = [(-candidate.relevance, candidate.entity_id) for candidate in ranking.candidates]
    assert order == sorted(order)
    for candidate, other in zip(ranking.candidates, again.candidates, strict=True):
        numbers = (candidate.relevance, candidate.words, candidate.distance or 0, candidate.rrf_score or 0)
        assert np.isfinite(numbers).all()
        assert 0 <= candidate.relevance <= 1
        assert candidate.distance is None or 0 <= candidate.distance <= 2
        assert candidate.words >= 0
        assert replace(candidate, relevance=other.relevance, meaning=other.meaning, distance=other.distance) == other
        assert candidate.relevance == pytest.approx(other.relevance, abs=1e-5)


def test_more_candidates_than_kept_are_cut_by_relevance(shelf: Shelf) -> None:
    for number in range(MOST + 50):
        shelf.put(f"nota {number}", "el faro" if number % 2 else "la noche")
    shelf.embed(10_000)
    ranking = shelf.rank("faro")
    assert len(ranking.candidates) <= MOST
    assert [candidate.words > 0 for candidate in ranking.candidates[:100]] == [True] * 100
    ids = [candidate.entity_id for candidate in ranking.candidates if candidate.words > 0]
    assert ids == sorted(ids)


@pytest.mark.parametrize("limits", [Limits(exact=10, coarse=1_000), Limits(exact=10, coarse=20)])
def test_the_forms_of_vectors_rank_alike(shelf: Shelf, limits: Limits) -> None:
    rng = np.random.default_rng(3)
    words = [f"palabra{number}" for number in range(60)]
    for number in range(120):
        shelf.put(f"nota {number}", " ".join(rng.choice(words, 8)))
    shelf.embed(10_000)
    reduced = shelf.afresh(limits)
    for query in ("palabra1 palabra2 palabra3", "palabra40 palabra50"):
        exact = shelf.rank(query).candidates[:10]
        other = {each.entity_id: each for each in shelf.rank(query, retriever=reduced).candidates}
        for candidate in exact:
            assert other[candidate.entity_id].relevance == pytest.approx(candidate.relevance, abs=0.01)


def test_without_an_embedder_words_rank(plain: Shelf) -> None:
    ranking = plain.rank("reunion electrica", by_meaning=False, retriever=Retriever(None))
    assert plain.named(ranking.candidates)[0] == "nota luz"
    assert ranking.candidates[0].distance is None


def test_what_the_best_find_names_is_found_with_it(shelf: Shelf) -> None:
    shelf.put("La imprenta", "La dirige Nuria Campos desde marzo")
    shelf.put("Nuria Campos", "nació en Lugo", entity_type="Persona")
    for number in range(8):
        shelf.put(f"otra {number}", "nació en otra parte y la dirige alguien")
    ranking = shelf.rank("¿quién dirige la imprenta?", by_meaning=False)
    assert shelf.named(ranking.candidates)[0] == "La imprenta"
    shelf.embed()
    assert "Nuria Campos" in shelf.found("¿quién dirige la imprenta?")[:2]


def test_in_a_small_store_all_words_come_before_none(shelf: Shelf) -> None:
    shelf.put("answer", "la contraseña la guarda el portero")
    for text in ("el portal de la casa", "guardería municipal", "contrastes de luz"):
        shelf.put(text, text)
    shelf.embed()
    assert shelf.found("contraseña portero")[0] == "answer"


def test_one_entity_that_says_very_much_is_not_what_a_small_store_is_like(shelf: Shelf) -> None:
    shelf.put("novel", *(f"el faro y la luz del mar, capítulo {number}" for number in range(80)))
    for number in range(6):
        shelf.put(f"note {number}", f"una nota suelta {number} sobre pan")
    shelf.embed()
    ranking = shelf.rank("la luz del faro")
    first = ranking.candidates[0]
    assert shelf.names[first.entity_id] == "novel"
    assert first.relevance > 0.7
