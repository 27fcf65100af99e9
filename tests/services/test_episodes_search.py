"""Finding memories: words, filters, order, room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from evoca import Memory
from evoca.domain.clock import DAY, from_iso
from evoca.operations.episode_results import MemoryJson
from tests.services.ageing import Ageing
from tests.services.test_episodes import saved


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="hash") as opened:
        yield opened


def found(memory: Memory, query: str, **given: object) -> list[str]:
    reply = memory.search_hipocampo(query, **given)  # pyright: ignore[reportArgumentType]
    assert reply["count"] == len(reply["memories"])
    return [each["content"] for each in reply["memories"]]


def memories(ageing: Ageing, **given: object) -> list[MemoryJson]:
    return cast("list[MemoryJson]", ageing.call("search_hipocampo", **given)["memories"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("campana politica", "Campaña política de otoño"),
        ("reunion electrica", "Reunión con la compañía eléctrica"),
        ("CAFÉ", "El café está caliente"),
        ("cafe", "El café está caliente"),
        ("Compañia", "Reunión con la compañía eléctrica"),
        ("PEÑA", "Subida a la peña de Álamo"),
        ("ALAMO", "Subida a la peña de Álamo"),
        ("σιγμα", "La letra ΣΙΓΜΑ"),
        ("strasse", "Berliner STRASSE 5"),
    ],
)
def test_words_are_found_without_accents_and_case(memory: Memory, query: str, expected: str) -> None:
    for text in (
        "Campaña política de otoño", "Reunión con la compañía eléctrica", "El café está caliente",
        "Subida a la peña de Álamo", "La letra ΣΙΓΜΑ", "Berliner STRASSE 5", "El viento del norte",
    ):  # fmt: skip
        saved(memory, text)
    assert found(memory, query)[0] == expected


def test_a_hit_tells_its_scores(memory: Memory) -> None:
    number = saved(memory, "El faro parpadea de noche", categories=["mar"])
    (hit,) = memory.search_hipocampo("faro de noche")["memories"]
    assert set(hit) == {
        "id", "content", "score", "scores", "memory_type", "code", "categories", "session_id", "nivel", "critico",
        "tier", "created_at",
    }  # fmt: skip
    assert (hit["id"], hit["tier"]) == (number, "HOT")
    scores = hit.get("scores")
    assert scores is not None
    assert scores["words"] > 0
    assert scores["meaning"] is not None
    assert scores["recency"] == 1.0
    assert 0 < hit.get("score", 0) <= 1


def test_filters_narrow_before_anything_is_cut_off(memory: Memory) -> None:
    for number in range(450):
        saved(memory, f"El faro parpadea {number}", session_id="ruido", force=True)
    one = saved(
        memory,
        "Por fin el faro",
        session_id="calma",
        memory_type="decision",
        code="Mar",
        categories=["Política", "luz"],
        nivel="semantica",
        critico=True,
    )
    filters: list[dict[str, object]] = [
        {"session_id": "calma"}, {"memory_type": "Decisión"}, {"memory_type": "decision"}, {"code": "mar"},
        {"categories": ["politica"]}, {"categories": ["politica", "nada"]}, {"nivel": "semantica"}, {"critico": True},
        {"categories": ["luz", "politica"], "categories_mode": "all"},
    ]  # fmt: skip
    for given in filters:
        for query in ("faro", ""):
            reply = memory.search_hipocampo(query, **given)  # pyright: ignore[reportArgumentType]
            assert [each["id"] for each in reply["memories"]] == [one], (query, given)
    assert found(memory, "faro", categories=["luz", "nada"], categories_mode="all") == []
    assert found(memory, "faro", session_id="Calma") == [], "sessions are exact"
    assert found(memory, "faro", session_id="") == [], "an empty one means those without"
    assert memory.search_hipocampo("faro", critico=False, limit=200)["total"] > 100


def test_a_blank_query_lists_the_newest_first_in_pages(memory: Memory) -> None:
    for number in range(5):
        saved(memory, f"Nota {number}")
    page = memory.search_hipocampo("  ", limit=2, offset=1)
    assert [each["content"] for each in page["memories"]] == ["Nota 3", "Nota 2"]
    assert (page["count"], page["total"], page["has_more"]) == (2, 5, True)
    last = memory.search_hipocampo("", limit=10, offset=3)
    assert ([each["content"] for each in last["memories"]], last["has_more"]) == (["Nota 1", "Nota 0"], False)
    assert "score" not in last["memories"][0]


def test_pages_of_a_search_follow_each_other(memory: Memory) -> None:
    for number in range(12):
        saved(memory, f"El faro número {number} parpadea")
    whole = found(memory, "faro parpadea", limit=12)
    parts = [found(memory, "faro parpadea", limit=5, offset=offset) for offset in (0, 5, 10)]
    assert [each for part in parts for each in part] == whole
    assert len(set(whole)) == 12


def test_periods_are_instants_whatever_their_offset(tmp_path: Path) -> None:
    with Ageing(tmp_path) as ageing:
        for at in ("2026-03-01T10:00:00+02:00", "2026-03-01T09:30:00Z", "2026-03-01T09:45:00"):
            ageing.clock.advance(from_iso(at) - ageing.clock.now())
            ageing.save(at)

        def between(**given: object) -> set[str]:
            return {each["content"] for each in memories(ageing, query="", **given)}

        assert between(since="2026-03-01T08:30:00Z", until="2026-03-01T09:40:00Z") == {"2026-03-01T09:30:00Z"}
        assert between(until="2026-03-01T09:00:00+01:00") == {"2026-03-01T10:00:00+02:00"}
        assert between(since="2026-03-01T09:45:00") == {"2026-03-01T09:45:00"}


def test_the_day_that_is_asked_for_counts(tmp_path: Path) -> None:
    with Ageing(tmp_path) as ageing:
        numbers: list[int] = []
        for name in ("Uno", "Dos", "Tres"):
            ageing.clock.advance(DAY)
            numbers.append(ageing.save(f"Se habló con el cliente {name}"))
        for day, number in zip((2, 3, 4), numbers, strict=True):
            asked = memories(ageing, query=f"¿con quién se habló el {day} de marzo de 2026?")
            assert asked[0]["id"] == number


def test_what_stands_beside_a_hit_in_its_session_rises(memory: Memory) -> None:
    """An answer that shares no word with the question is found next to it, and only in the same session."""
    saved(memory, "Otra cosa sin relación", session_id="b")
    saved(memory, "¿Cómo se llama el perro del farero?", session_id="a")
    saved(memory, "Trueno, por el ruido que hace", session_id="a")
    for text in ("Hoy llueve mucho", "La barca es roja", "El pan está caro"):
        saved(memory, text, session_id="a")
    hits = memory.search_hipocampo("nombre del perro del farero", session_id="a")["memories"]
    assert [each["content"] for each in hits[:2]] == [
        "¿Cómo se llama el perro del farero?",
        "Trueno, por el ruido que hace",
    ]


def test_the_same_words_again_stand_behind_other_hits(memory: Memory) -> None:
    for _ in range(3):
        saved(memory, "El faro parpadea de noche", force=True)
    saved(memory, "Un faro que parpadea")
    assert found(memory, "el faro parpadea de noche", limit=2) == ["El faro parpadea de noche", "Un faro que parpadea"]


def test_room_is_counted_in_tokens(memory: Memory) -> None:
    for number in range(6):
        saved(memory, f"El faro número {number} parpadea de noche junto al mar")
    reply = memory.search_hipocampo("faro parpadea", budget_tokens=30)
    assert (reply["count"], reply["has_more"]) == (2, True)
    assert sum(-(-len(each["content"]) // 4) for each in reply["memories"]) <= 30
    short = memory.search_hipocampo("faro parpadea", budget_tokens=6)
    assert len(short["memories"]) == 1
    assert len(short["memories"][0]["content"]) <= 24
    assert "acortó" in short["warnings"][0]


@pytest.mark.parametrize("budget", [1, 20, 60, 200, 1000])
def test_packed_evidence_fits_its_budget_and_reads_in_order_of_time(memory: Memory, budget: int) -> None:
    filler = "Esto se dijo de paso y no viene al caso. " * 30
    for number in range(8):
        saved(memory, f"{filler}El faro número {number} parpadea de noche. {filler}")
    reply = memory.compress_hipocampo("¿qué hace el faro de noche?", budget_tokens=budget)
    assert reply["tokens"] == -(-len(reply["context"]) // 4) <= budget
    assert reply["memories"] == sorted(reply["memories"])
    for number in reply["memories"]:
        assert f"[{number} · " in reply["context"]
    if budget >= 60:
        assert "parpadea de noche" in reply["context"]


def test_without_a_model_words_still_find_and_it_is_said(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        saved(memory, "El faro parpadea")
        saved(memory, "El viento sopla")
        reply = memory.search_hipocampo("faro")
        assert [each["content"] for each in reply["memories"]] == ["El faro parpadea"]
        assert reply["memories"][0]["tier"] == "WARM"
        assert reply["warnings"] == ["Sin modelo de embeddings: solo se buscó por palabras."]
        assert memory.compress_hipocampo("faro")["memories"] == [reply["memories"][0]["id"]]


def test_another_process_s_memories_are_found_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hash") as one, Memory(tmp_path / "m.db", embedder="hash") as two:
        assert found(two, "faro") == []
        number = saved(one, "El faro parpadea")
        assert found(two, "faro") == ["El faro parpadea"]
        one.update_hipocampo(number, content="El viento sopla")
        assert (found(two, "viento"), found(two, "", nivel="automatica")) == (["El viento sopla"], [])
        one.set_nivel_hipocampo(number, "automatica")
        assert found(two, "viento", nivel="automatica") == ["El viento sopla"]
        one.delete_hipocampo(number)
        assert found(two, "viento") == []


def test_spanish_questions_find_english_memories_and_the_reverse(tmp_path: Path) -> None:
    notes = [
        "The backup battery of the greenhouse lasts six hours", "El perro del faro se llama Trueno",
        "La reunión semanal es los martes", "The printer is out of toner", "El pan se compra en la plaza",
        "Our rent goes up in June", "La llave está bajo la maceta", "The train to Vigo leaves at nine",
    ]  # fmt: skip
    with Memory(tmp_path / "m.db") as memory:
        for note in notes:
            saved(memory, note)
        assert found(memory, "¿cuánto dura la batería de respaldo del invernadero?", limit=1) == notes[:1]
        assert found(memory, "what is the lighthouse dog called?", limit=1) == notes[1:2]
