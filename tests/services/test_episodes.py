"""Saving memories, changing them, taking them away: what is refused, what is said, what is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evoca import Memory
from evoca.errors import InvalidInput, LimitExceeded, NotFound
from tests.surfaces.waiting import until


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="none") as opened:
        yield opened


def saved(memory: Memory, content: str, **given: object) -> int:
    reply = memory.save_hipocampo(content, **given)  # pyright: ignore[reportArgumentType]
    assert reply["status"] == "saved", reply
    return reply.get("id", 0)


def listed(memory: Memory, **given: object) -> list[str]:
    found = memory.search_hipocampo("", limit=200, **given)  # pyright: ignore[reportArgumentType]
    return [each["content"] for each in found["memories"]]


def test_a_save_is_confirmed_with_its_id_and_found_at_once_by_its_words(memory: Memory) -> None:
    reply = memory.save_hipocampo("El código del taller es 4471-K")
    number = reply.get("id", 0)
    assert reply["result"].startswith(f"✅ Guardado en Hipocampo (id={number})")
    assert (reply["status"], reply.get("tier"), reply["warnings"]) == ("saved", "WARM", [])
    (hit,) = memory.search_hipocampo("código del taller")["memories"]
    assert (hit["id"], hit["content"]) == (number, "El código del taller es 4471-K")


def test_all_nine_parameters_are_kept(memory: Memory) -> None:
    number = saved(
        memory,
        "Se eligió SQLite",
        memory_type="decision",
        code="almacén",
        categories=["base de datos", "Infraestructura"],
        session_id="lunes",
        force=True,
        auto_link=True,
        nivel="semantica",
        critico=True,
    )
    kept = memory.get_hipocampo(number)["memory"]
    assert kept["memory_type"] == "decision"
    assert kept["code"] == "almacén"
    assert kept["categories"] == ["base de datos", "Infraestructura"]
    assert (kept["session_id"], kept["nivel"], kept["critico"]) == ("lunes", "semantica", True)


@pytest.mark.parametrize("content", ["", "  \n\t "])
def test_blank_contents_are_refused(memory: Memory, content: str) -> None:
    with pytest.raises(InvalidInput, match=r"^❌ El contenido no puede estar vacío\.$") as error:
        memory.save_hipocampo(content)
    assert error.value.field == "content"


def test_levels_forgive_accents_and_name_what_is_allowed(memory: Memory) -> None:
    assert memory.get_hipocampo(saved(memory, "x", nivel="Semántica"))["memory"]["nivel"] == "semantica"
    with pytest.raises(InvalidInput, match=r"^❌ Nivel inválido: eterno\. Usa: episodica, semantica, automatica\.$"):
        memory.save_hipocampo("y", nivel="eterno")
    with pytest.raises(InvalidInput, match="Nivel inválido"):
        memory.search_hipocampo("y", nivel="eterno")


def test_too_long_contents_and_bad_characters_are_refused(memory: Memory) -> None:
    with pytest.raises(LimitExceeded):
        memory.save_hipocampo("x" * 100_001)
    with pytest.raises(InvalidInput):
        memory.save_hipocampo("a\0b")
    with pytest.raises(InvalidInput):
        memory.save_hipocampo("a\ud800b")
    assert listed(memory) == []


def test_dates_are_checked(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="expires_at"):
        memory.save_hipocampo("x", expires_at="mañana")
    with pytest.raises(InvalidInput, match="since"):
        memory.search_hipocampo("x", since="ayer")


# -- the same again ------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", ["La reunión es el lunes", "la reunión es el  LUNES ", "La reunión es el lunes."])
def test_the_same_again_is_refused_and_said(memory: Memory, again: str) -> None:
    first = saved(memory, "La reunión es el lunes")
    reply = memory.save_hipocampo(again)
    assert (reply["status"], reply.get("duplicate_of"), reply.get("id")) == ("duplicate", first, first)
    assert reply.get("similarity", 0) >= 0.85
    assert reply["result"].startswith(f"⚠️ Ya existe un recuerdo casi idéntico (id={first}, similitud_trgm=")
    assert "Contenido existente: La reunión es el lunes..." in reply["result"]
    assert f"Usa update_hipocampo(id={first}) o pasa force=True." in reply["result"]
    assert len(listed(memory)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("La IP del router es 192.168.7.1", "La IP del router es 192.168.9.1"),
        ("Vuelo el 3 de mayo", "Vuelo el 13 de mayo"),
        ("Talla 38", "Talla 48"),
        ("Prueba 17: 812 ms", "Prueba 18: 815 ms"),
        ("La puerta del almacén está abierta", "La puerta del almacén no está abierta"),
    ],
)
def test_what_differs_in_what_matters_is_saved(memory: Memory, one: str, other: str) -> None:
    saved(memory, one)
    saved(memory, other)
    assert listed(memory) == [other, one]


def test_what_a_refused_memory_had_more_is_said(memory: Memory) -> None:
    first = saved(memory, "La reunión es el lunes", categories=["trabajo"])
    reply = memory.save_hipocampo("La reunión es el lunes", categories=["Trabajo", "agenda"], critico=True, code="r")
    assert reply.get("not_saved") == ["categories", "code", "critico"]
    assert f"update_hipocampo(id={first})" in reply["warnings"][-1]
    plain = memory.save_hipocampo("La reunión es el lunes", categories=["TRABAJO"])
    assert "not_saved" not in plain


def test_force_saves_it_all_the_same(memory: Memory) -> None:
    first = saved(memory, "La reunión es el lunes")
    assert saved(memory, "La reunión es el lunes", force=True) != first
    assert len(listed(memory)) == 2


def test_sessions_do_not_see_each_other_s_copies(memory: Memory) -> None:
    saved(memory, "La reunión es el lunes")
    saved(memory, "La reunión es el lunes", session_id="a")
    saved(memory, "La reunión es el lunes", session_id="b")
    assert memory.save_hipocampo("La reunión es el lunes", session_id="a")["status"] == "duplicate"
    assert len(listed(memory)) == 3


def test_of_copies_saved_at_once_one_is_kept(tmp_path: Path) -> None:
    """Two memories on one file are two processes to the store: connections, writers and locks of their own."""
    start = threading.Barrier(8)
    with (
        Memory(tmp_path / "m.db", embedder="none") as one,
        Memory(tmp_path / "m.db", embedder="none") as two,
        ThreadPoolExecutor(8) as pool,
    ):
        assert listed(one) == listed(two) == []

        def save(memory: Memory) -> str:
            start.wait()
            return memory.save_hipocampo("El código del taller es 4471-K")["status"]

        statuses = list(pool.map(save, [one, two] * 4))
        assert sorted(statuses) == ["duplicate"] * 7 + ["saved"]
        assert len(listed(one)) == 1


# -- changing ------------------------------------------------------------------------------------------


def test_every_field_can_be_changed_and_what_was_is_kept(memory: Memory) -> None:
    number = saved(memory, "Marta vive en Lugo", categories=["personas"])
    reply = memory.update_hipocampo(
        number,
        content="Marta vive en Gijón",
        memory_type="profile",
        code="marta",
        categories=["familia"],
        session_id="s",
        nivel="automatica",
        critico=True,
        expires_at="2040-01-01",
    )
    assert (reply["status"], reply.get("id")) == ("updated", number)
    assert reply.get("changed") == [
        "content", "memory_type", "code", "categories", "session_id", "nivel", "critico", "expires_at",
    ]  # fmt: skip
    assert "crítico no caduca" in reply["warnings"][0]
    details = memory.get_hipocampo(number)
    assert details["memory"]["content"] == "Marta vive en Gijón"
    assert details["memory"].get("expires_at") == "2040-01-01T00:00:00Z"
    (version,) = details["versions"]
    assert (version["content"], version["categories"], version["nivel"]) == (
        "Marta vive en Lugo",
        ["personas"],
        "episodica",
    )


def test_search_follows_an_update(memory: Memory) -> None:
    number = saved(memory, "Marta vive en Lugo", categories=["personas"])
    memory.update_hipocampo(number, content="Marta vive en Gijón", categories=["familia"])
    assert memory.search_hipocampo("Lugo")["memories"] == []
    assert [hit["id"] for hit in memory.search_hipocampo("Gijón")["memories"]] == [number]
    assert listed(memory, categories=["personas"]) == []
    assert listed(memory, categories=["Familia"]) == ["Marta vive en Gijón"]


def test_an_update_that_changes_nothing_leaves_no_trace(memory: Memory) -> None:
    number = saved(memory, "Marta vive en Lugo")
    assert memory.update_hipocampo(number, content="Marta vive en Lugo").get("changed") == []
    assert memory.get_hipocampo(number)["versions"] == []
    with pytest.raises(InvalidInput, match="Nada que cambiar"):
        memory.update_hipocampo(number)


def test_an_update_makes_no_copy_unless_it_is_meant(memory: Memory) -> None:
    first, second = saved(memory, "Marta vive en Lugo"), saved(memory, "Otra cosa")
    assert memory.update_hipocampo(second, content="marta vive en lugo").get("duplicate_of") == first
    assert memory.get_hipocampo(second)["memory"]["content"] == "Otra cosa"
    assert memory.update_hipocampo(first, content="Marta vive en  Lugo")["status"] == "updated", (
        "it is no copy of itself"
    )
    assert memory.update_hipocampo(second, content="marta vive en lugo", force=True)["status"] == "updated"


def test_an_end_can_be_set_and_taken_off(memory: Memory) -> None:
    number = saved(memory, "Oferta de verano", expires_at="2020-01-01")
    assert memory.search_hipocampo("oferta")["memories"] == []
    assert [hit["id"] for hit in memory.search_hipocampo("oferta", include_archived=True)["memories"]] == [number]
    memory.update_hipocampo(number, expires_at="")
    assert [hit["id"] for hit in memory.search_hipocampo("oferta")["memories"]] == [number]


def test_a_level_is_set_with_the_contract_s_sentence(memory: Memory) -> None:
    number = saved(memory, "Siempre en UTC")
    reply = memory.set_nivel_hipocampo(number, "automatica")
    assert reply["result"] == f"✅ Recuerdo #{number} promovido a nivel 'automatica'."
    assert memory.get_hipocampo(number)["memory"]["nivel"] == "automatica"


_CALLS: dict[str, Callable[[Memory, int], object]] = {
    "get": lambda memory, number: memory.get_hipocampo(number),
    "update": lambda memory, number: memory.update_hipocampo(number, content="y"),
    "delete": lambda memory, number: memory.delete_hipocampo(number),
    "set": lambda memory, number: memory.set_nivel_hipocampo(number, "semantica"),
}


@pytest.mark.parametrize("call", sorted(_CALLS))
def test_unknown_ids_are_said(memory: Memory, tmp_path: Path, call: str) -> None:
    number = saved(memory, "x")
    with Memory(tmp_path / "memory.db", embedder="none", collection="otra") as other:
        for opened, asked in ((memory, number + 1), (other, number)):
            with pytest.raises(NotFound, match=rf"^❌ No se encontró recuerdo con id={asked}$"):
                _CALLS[call](opened, asked)
    assert listed(memory) == ["x"]


# -- taking away ---------------------------------------------------------------------------------------


def test_what_is_deleted_is_gone_from_every_search(memory: Memory) -> None:
    number = saved(memory, "El zarigüeyómetro marca 7", categories=["bichos"])
    assert memory.delete_hipocampo(number)["result"] == f"🗑️ Eliminado recuerdo id={number}"
    assert memory.search_hipocampo("zarigüeyómetro", include_archived=True)["total"] == 0
    assert listed(memory) == []
    assert listed(memory, categories=["bichos"]) == []
    assert memory.compress_hipocampo("zarigüeyómetro")["context"] == ""


def test_a_critical_memory_is_deleted_by_force_only(memory: Memory) -> None:
    number = saved(memory, "La clave está en la caja", critico=True)
    reply = memory.delete_hipocampo(number)
    assert reply["status"] == "protected"
    assert "force=True" in reply["result"]
    assert listed(memory)
    assert memory.delete_hipocampo(number, force=True)["status"] == "deleted"
    assert not listed(memory)


def test_what_was_shown_counts_as_used(memory: Memory) -> None:
    number = saved(memory, "Siempre en UTC")
    memory.search_hipocampo("UTC")
    until(lambda: memory.get_hipocampo(number)["memory"].get("used_count", 0) > 0, "use is counted")
    assert "last_used_at" in memory.get_hipocampo(number)["memory"]
