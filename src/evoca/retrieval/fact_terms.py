"""The words of a question about facts, each with what means the same in the other language."""

from __future__ import annotations

from evoca.domain.text import QueryTerm, query_terms
from evoca.domain.translations import equivalents


def fact_terms(query: str, language: int) -> list[QueryTerm]:
    """As `query_terms`, for predicates in either language: `vive` also finds `lives_in`. `language`: the query's."""
    return [
        QueryTerm(term.word, tuple(dict.fromkeys((*term.alternatives, *equivalents(term.word, language)))))
        for term in query_terms(query)
    ]
