"""What follows a save: copies, links, contradictions, ends; and that nothing of it holds a save up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evoca import Memory
from evoca.operations.episode_results import LinkJson
from evoca.retrieval.embedders.hashing import HashEmbedder
from tests.retrieval.test_embedders import Endpoint
from tests.services.test_episodes import saved
from tests.services.test_episodes_search import found
from tests.surfaces.waiting import until


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened


def settled(memory: Memory) -> None:
    """Wait until everything that follows the saves so far is done."""

    def done() -> bool:
        stats = memory.hipocampo_stats()
        return stats["pending"] == 0 and stats["to_examine"] == 0

    until(done, "the background has caught up")


def links(memory: Memory, number: int) -> list[LinkJson]:
    return memory.get_hipocampo(number)["links"]


def test_a_memory_gets_hot(memory: Memory) -> None:
    number = saved(memory, "El faro parpadea de noche")
    settled(memory)
    assert memory.get_hipocampo(number)["tier"] == "HOT"


def test_what_means_the_same_is_marked_and_kept(memory: Memory) -> None:
    first = saved(memory, "Marta vive en Lugo desde hace años")
    second = saved(memory, "Marta reside en Lugo desde hace muchos años ya")
    settled(memory)
    assert memory.get_hipocampo(second)["memory"].get("possible_duplicate_of") == first
    assert "possible_duplicate_of" not in memory.get_hipocampo(first)["memory"]
    assert len(found(memory, "", limit=10)) == 2


def test_other_sessions_and_other_facts_are_no_copies(memory: Memory) -> None:
    saved(memory, "Marta vive en Lugo desde hace años", session_id="a")
    others = [
        saved(memory, "Marta reside en Lugo desde hace muchos años ya", session_id="b"),
        saved(memory, "La prueba 17 tardó 812 milisegundos"),
        saved(memory, "La prueba 18 tardó 815 milisegundos"),
    ]
    settled(memory)
    assert [memory.get_hipocampo(each)["memory"].get("possible_duplicate_of") for each in others] == [None] * 3


def test_links_are_made_when_they_are_asked_for(memory: Memory) -> None:
    texts = [
        "Marta vive en Lugo desde hace años",
        "Marta vive en la ciudad de Lugo hace muchos años",
        "Desde hace años Marta tiene su casa en Lugo",
        "Marta reside en Lugo desde hace años",
    ]
    for text in texts:
        saved(memory, text)
    saved(memory, "El precio del pan sube en junio")
    settled(memory)
    linked = saved(memory, "Marta tiene su casa en Lugo, vive allí desde hace muchos años", auto_link=True)
    settled(memory)
    made = links(memory, linked)
    assert len(made) == 3
    assert {link["relation_type"] for link in made} == {"similar"}
    assert all(link["source_id"] == linked and link["target_id"] <= linked and link["weight"] > 0.75 for link in made)


def test_the_newer_of_two_that_exclude_each_other_stands_and_the_older_is_kept(memory: Memory) -> None:
    older = saved(memory, "Marta vive en Lugo")
    newer = saved(memory, "Marta vive en Gijón")
    settled(memory)
    assert found(memory, "¿dónde vive Marta?") == ["Marta vive en Gijón"]
    first, second = memory.search_hipocampo("¿dónde vive Marta?", include_archived=True)["memories"]
    assert (first["id"], first.get("contradicts")) == (newer, [older])
    assert (second["id"], second.get("contradicts"), second.get("superseded_by")) == (older, [newer], newer)
    (link,) = links(memory, older)
    assert (link["source_id"], link["target_id"], link["relation_type"]) == (newer, older, "contradicts")


def test_a_text_that_was_replaced_can_be_saved_again(memory: Memory) -> None:
    for text in ("Marta vive en Lugo", "Marta vive en Gijón", "Marta vive en Lugo"):
        saved(memory, text)
        settled(memory)
    assert found(memory, "¿dónde vive Marta?") == ["Marta vive en Lugo"]


def test_a_doubtful_contradiction_hides_nothing_and_is_said_newest_first(memory: Memory) -> None:
    older = saved(memory, "Me encanta el café")
    newer = saved(memory, "Ya no tomo café, ahora té")
    settled(memory)
    hits = memory.search_hipocampo("me encanta el café")["memories"]
    assert [(hit["id"], hit.get("contradicts")) for hit in hits] == [(newer, [older]), (older, [newer])]


def test_what_goes_together_is_no_contradiction(memory: Memory) -> None:
    for text in ("Bea habla inglés", "Bea habla francés", "Iria conoce a Bea", "Iria conoce a Luis"):
        saved(memory, text)
    settled(memory)
    hits = memory.search_hipocampo("", limit=10)["memories"]
    assert len(hits) == 4
    assert not [hit for hit in hits if "contradicts" in hit or "superseded_by" in hit]


def test_sessions_are_judged_apart_but_for_what_has_none(memory: Memory) -> None:
    everywhere = saved(memory, "Marta vive en Lugo")
    here = saved(memory, "Marta vive en Gijón", session_id="a")
    there = saved(memory, "Marta vive en Vigo", session_id="b")
    settled(memory)
    assert {(link["source_id"], link["target_id"]) for link in links(memory, everywhere)} == {
        (here, everywhere),
        (there, everywhere),
    }
    assert len(links(memory, here)) == 1
    assert found(memory, "¿dónde vive Marta?", session_id="") == ["Marta vive en Lugo"], (
        "no session hides what is shared"
    )


def test_a_critical_memory_is_linked_and_never_replaced(memory: Memory) -> None:
    older = saved(memory, "Marta vive en Lugo", critico=True)
    newer = saved(memory, "Marta vive en Gijón")
    settled(memory)
    hits = memory.search_hipocampo("¿dónde vive Marta?")["memories"]
    assert [hit["id"] for hit in hits] == [newer, older]
    assert "superseded_by" not in hits[1]


def test_another_text_is_judged_anew(memory: Memory) -> None:
    older = saved(memory, "Marta vive en Lugo")
    newer = saved(memory, "Marta vive en Gijón")
    settled(memory)
    memory.update_hipocampo(newer, content="Marta trabaja en Gijón")
    settled(memory)
    assert links(memory, older) == []
    assert set(found(memory, "Marta")) == {"Marta vive en Lugo", "Marta trabaja en Gijón"}


def test_without_the_newer_one_the_older_one_holds_again(memory: Memory) -> None:
    saved(memory, "Marta vive en Lugo")
    newer = saved(memory, "Marta vive en Gijón")
    settled(memory)
    memory.delete_hipocampo(newer)
    assert found(memory, "¿dónde vive Marta?") == ["Marta vive en Lugo"]


def test_what_is_over_goes_cold_but_for_critical_memories(memory: Memory) -> None:
    over = saved(memory, "Oferta de verano", expires_at="2020-01-01")
    kept = saved(memory, "Otra oferta", expires_at="2020-01-01", critico=True)
    until(lambda: memory.get_hipocampo(over)["tier"] == "COLD", "it is archived")
    assert memory.get_hipocampo(over)["memory"].get("archived_reason") == "expired"
    settled(memory)
    assert memory.get_hipocampo(kept)["tier"] == "HOT"
    assert [hit["id"] for hit in memory.search_hipocampo("oferta")["memories"]] == [kept]


class Held:
    """An embedder behind an endpoint that answers only once it is let go."""

    def __init__(self) -> None:
        self.endpoint = Endpoint()
        self.endpoint.answer = self._answer
        self.let_go = threading.Event()
        self.asked = threading.Event()
        self._hashing = HashEmbedder(64)

    def _answer(self, texts: list[str]) -> tuple[int, object]:
        if any("zarigüeya" in text for text in texts):
            self.asked.set()
            self.let_go.wait(60)
        rows = self._hashing.embed_passages(texts).tolist()
        return 200, {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.let_go.set()
    made.endpoint.close()


def test_a_slow_model_holds_no_save_up(tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOCA_CATCH_UP", "0")
    with Memory(tmp_path / "m.db", embedder=f"openai:{held.endpoint.url}") as memory:
        first = saved(memory, "La zarigüeya duerme en el desván")
        held.asked.wait(60)
        assert not held.let_go.is_set(), "the model is at work and will be until the end of this test"
        second = saved(memory, "La zarigüeya come fruta")
        hits = memory.search_hipocampo("desván fruta")["memories"]
        assert {hit["id"] for hit in hits} == {first, second}
        assert {hit["tier"] for hit in hits} == {"WARM"}
        held.let_go.set()
        settled(memory)
        assert memory.get_hipocampo(first)["tier"] == memory.get_hipocampo(second)["tier"] == "HOT"
