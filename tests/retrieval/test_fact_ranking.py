"""Facts are ranked by the words of both languages and by meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from evoca.domain.graph import NewEdge, NewEntity
from evoca.retrieval.ranking import Ranking, Retriever
from evoca.storage.contract import Session
from tests.retrieval.shelf import NOW, Shelf

FACTS = (
    ("Marta", "lives_in", "Lugo"),
    ("Marta", "works_at", "Acme"),
    ("Marta", "likes", "jazz"),
    ("Jon", "vive_en", "Bilbao"),
    ("Jon", "trabaja_en", "Iberia"),
    ("Jon", "alergico_a", "cacahuetes"),
    ("Lucía", "lives_in", "London"),
    ("Lucía", "jobTitle", "data engineer"),
    ("Acme", "headquarters", "Sevilla"),
    ("Iberia", "sede", "Madrid"),
    ("Rex", "raza", "border collie"),
    ("Rex", "age", "5"),
)
ASKED = (
    ("¿dónde vive Marta?", "Marta lives_in"),
    ("where does Jon live?", "Jon vive_en"),
    ("¿en qué empresa trabaja Marta?", "Marta works_at"),
    ("where does Jon work?", "Jon trabaja_en"),
    ("what is Jon allergic to?", "Jon alergico_a"),
    ("¿cuál es el puesto de Lucía?", "Lucía jobTitle"),
    ("¿quién vive en Londres?", "Lucía lives_in"),
    ("la sede de Acme", "Acme headquarters"),
    ("headquarters of Iberia", "Iberia sede"),
    ("edad de Rex", "Rex age"),
)


def tell(shelf: Shelf, facts: Sequence[tuple[str, str, str]] = FACTS) -> dict[int, str]:
    """Put facts into the store: id → `subject predicate`."""

    def work(session: Session) -> list[int]:
        names = list(dict.fromkeys(subject for subject, _, _ in facts))
        ids = dict(zip(names, session.entities.insert(shelf.home, [NewEntity(n) for n in names], NOW), strict=True))
        rows = [
            NewEdge(ids[subject], predicate, ids.get(said), None if said in ids else said)
            for subject, predicate, said in facts
        ]
        return session.facts.insert(shelf.home, rows, NOW)

    made = shelf.store.write(work)
    return {number: f"{subject} {predicate}" for number, (subject, predicate, _) in zip(made, facts, strict=True)}


def rank(shelf: Shelf, query: str, retriever: Retriever | None = None, allowed: Sequence[int] | None = None) -> Ranking:
    vector = None if retriever is not None else shelf.embedder.embed_queries([query])[0]
    only = None if allowed is None else np.array(allowed, np.int64)
    ranker = retriever or shelf.retriever
    return shelf.store.read(lambda session: ranker.facts(session, shelf.home, query, vector, only))


@pytest.mark.parametrize(("query", "expected"), ASKED)
def test_words_alone_answer_in_the_other_language(shelf: Shelf, query: str, expected: str) -> None:
    facts = tell(shelf)
    found = rank(shelf, query, Retriever(None)).candidates
    assert facts[found[0].entity_id] == expected
    assert all(0 < each.relevance <= 1 for each in found)


def test_meaning_finds_what_shares_no_word(real_shelf: Shelf) -> None:
    facts = tell(real_shelf)
    real_shelf.embed()
    asked = (
        *ASKED,
        ("what breed is the dog?", "Rex raza"),
        ("¿qué le gusta a Marta?", "Marta likes"),
        ("how old is Rex?", "Rex age"),
    )
    first = [facts[rank(real_shelf, query).candidates[0].entity_id] for query, _ in asked]
    assert first == [expected for _, expected in asked]


def test_a_fact_is_found_before_it_has_a_vector(shelf: Shelf) -> None:
    facts = tell(shelf)
    shelf.embed()
    (late,) = tell(shelf, [("Nuria", "vive_en", "Vigo")])
    ranking = rank(shelf, "where does Nuria live?")
    assert (ranking.candidates[0].entity_id, ranking.candidates[0].distance, ranking.pending) == (late, None, 1)
    assert late not in facts


def test_only_allowed_facts_are_ranked(shelf: Shelf) -> None:
    facts = tell(shelf)
    shelf.embed()
    of_jon = [number for number, name in facts.items() if name.startswith("Jon")]
    found = rank(shelf, "where does Marta live?", allowed=of_jon).candidates
    assert {each.entity_id for each in found} <= set(of_jon)
    assert facts[found[0].entity_id] == "Jon vive_en"
    assert rank(shelf, "where does Marta live?", allowed=[]).candidates == ()


def test_facts_and_entities_are_sought_apart(shelf: Shelf) -> None:
    facts = tell(shelf)
    shelf.put("Marta Ruiz", "vive en Lugo")
    shelf.embed()
    assert {each.entity_id for each in rank(shelf, "Marta vive en Lugo").candidates} <= facts.keys()
    assert not {each.entity_id for each in shelf.rank("Marta vive en Lugo").candidates} & facts.keys()


def test_the_facts_that_hold_every_word(shelf: Shelf) -> None:
    facts = tell(shelf)
    words = Retriever(None)

    def holding(query: str) -> list[str]:
        ids = shelf.store.read(lambda session: words.facts_holding(session, shelf.home, query))
        return [facts[number] for number in ids.tolist()]

    assert holding("vive Marta") == ["Marta lives_in"]
    assert holding("lives in") == ["Marta lives_in", "Jon vive_en", "Lucía lives_in"]
    assert holding("vive jazz") == holding("¿?") == holding("") == []
    gone = next(number for number, name in facts.items() if name == "Jon vive_en")
    shelf.store.write(lambda session: session.facts.delete([gone]))
    assert holding("lives in") == ["Marta lives_in", "Lucía lives_in"]


def test_every_passage_of_a_long_context_leads_to_its_fact(shelf: Shelf) -> None:
    context = " ".join(f"La frase{n} habla del puerto." for n in range(40))
    (subject,) = shelf.store.write(lambda s: s.entities.insert(shelf.home, [NewEntity("Faro")], NOW))
    row = NewEdge(subject, "sabe", value="todo", context=context)
    (made,) = shelf.store.write(lambda s: s.facts.insert(shelf.home, [row], NOW))
    shelf.embed()
    for query in ("frase39", "frase0", "Faro sabe"):
        assert [each.entity_id for each in rank(shelf, query).candidates] == [made]
    assert shelf.store.read(lambda s: Retriever(None).facts_holding(s, shelf.home, "Faro frase39")).tolist() == [made]
