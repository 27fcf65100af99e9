"""Memories that age: consolidated, degraded, archived, brought back; each dry run tells what the real one does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from evoca import Memory
from evoca.domain.clock import to_iso
from evoca.errors import InvalidInput, NotFound
from tests.services.ageing import START, Ageing

HOUR = 3_600_000_000


@pytest.fixture
def ageing(tmp_path: Path) -> Iterator[Ageing]:
    with Ageing(tmp_path) as opened:
        yield opened


# -- consolidation -------------------------------------------------------------------------------


def test_old_episodic_memories_become_semantic(ageing: Ageing) -> None:
    old = ageing.save("El taller abre a las ocho")
    rule = ageing.save("Responde siempre en español", nivel="automatica")
    critical = ageing.save("La llave está en el faro", critico=True)
    ageing.days(7)
    young = ageing.save("Hoy llueve en Lugo")
    changed, reply = ageing.both("consolidate_hipocampo")
    assert changed == [old]
    assert reply["result"] == "✅ 1 recuerdos promovidos de episódica → semántica."
    levels = {number: row.nivel for number, row in ageing.rows([old, rule, critical, young]).items()}
    assert levels == {old: "semantica", rule: "automatica", critical: "episodica", young: "episodica"}
    assert ageing.row(old).consolidated_at == ageing.clock.now()


def test_nothing_to_consolidate_is_said(ageing: Ageing) -> None:
    ageing.save("Hoy llueve en Lugo")
    ageing.days(6.9)
    reply = ageing.call("consolidate_hipocampo", dry_run=False)
    assert reply["result"] == "✅ No hay recuerdos episódicos antiguos para consolidar."
    assert (reply["status"], reply["changed"]) == ("unchanged", [])


def test_a_dry_run_changes_nothing(ageing: Ageing) -> None:
    number = ageing.save("El taller abre a las ocho")
    ageing.days(100)
    before = ageing.row(number)
    for name in ("consolidate_hipocampo", "decay_hipocampo"):
        reply = ageing.call(name)
        assert (reply["dry_run"], reply["status"]) == (True, "dry_run")
        assert [each["id"] for each in _candidates(reply)] == [number]
    assert ageing.row(number) == before


def test_an_age_of_zero_takes_every_one(ageing: Ageing) -> None:
    numbers = [ageing.save(f"Nota {word}") for word in ("roja", "azul")]
    assert ageing.both("consolidate_hipocampo", min_age_days=0)[0] == numbers


# -- rules ---------------------------------------------------------------------------------------


def test_rules_that_nobody_used_are_degraded(ageing: Ageing) -> None:
    unused = ageing.save("Usa siempre comillas dobles", nivel="automatica")
    used = ageing.save("Responde siempre en gallego", nivel="automatica")
    critical = ageing.save("Nunca borres la tabla clientes", nivel="automatica", critico=True)
    assert used in ageing.found("gallego")
    ageing.days(31)
    young = ageing.save("Firma los correos", nivel="automatica")
    changed, reply = ageing.both("review_automatica")
    assert changed == [unused]
    assert reply["result"] == "✅ 1 reglas automatica degradadas a semantica por inactividad."
    row = ageing.row(unused)
    assert (row.nivel, row.degraded_reason, row.degraded_at) == (
        "semantica",
        "auto_review_expired",
        ageing.clock.now(),
    )
    assert {ageing.row(each).nivel for each in (used, critical, young)} == {"automatica"}


def test_a_memory_made_a_rule_lately_is_young(ageing: Ageing) -> None:
    number = ageing.save("Firma los correos")
    ageing.days(60)
    ageing.call("set_nivel_hipocampo", id=number, nivel="automatica")
    assert ageing.both("review_automatica")[0] == []
    ageing.days(30)
    assert ageing.both("review_automatica")[0] == [number]


# -- decay ---------------------------------------------------------------------------------------


def test_old_unprotected_memories_go_cold(ageing: Ageing) -> None:
    old = ageing.save("El zarigüeyómetro marca siete")
    kept = [
        ageing.save("El faro es crítico", critico=True),
        ageing.save("Responde en español", nivel="automatica"),
        ageing.save("El taller abre a las ocho", nivel="semantica"),
        ageing.save("Enlazado uno"),
        ageing.save("Enlazado dos"),
    ]
    ageing.call("link_hipocampo", source_id=kept[3], target_id=kept[4])
    ageing.days(30)
    kept.append(ageing.save("Recién guardado"))
    changed, reply = ageing.both("decay_hipocampo")
    assert changed == [old]
    assert reply["candidates"] == [{"id": old, "action": "archive", "reason": "episódica, 30 días, sin enlaces"}]
    assert {number for number, row in ageing.rows([old, *kept]).items() if row.archived_at is not None} == {old}
    assert ageing.call("get_hipocampo", id=old)["tier"] == "COLD"
    assert old not in ageing.found("zarigüeyómetro")


def test_the_age_is_honoured(ageing: Ageing) -> None:
    number = ageing.save("El taller abre a las ocho")
    ageing.days(29.9)
    assert ageing.both("decay_hipocampo")[0] == []
    assert ageing.both("decay_hipocampo", min_age_days=29)[0] == [number]


def test_zero_days_archive_every_unprotected_one(ageing: Ageing) -> None:
    number = ageing.save("El taller abre a las ocho")
    critical = ageing.save("La llave está en el faro", critico=True)
    assert ageing.both("decay_hipocampo", min_age_days=0)[0] == [number]
    assert ageing.row(critical).archived_at is None


def test_what_has_expired_is_archived(ageing: Ageing) -> None:
    end = to_iso(START + 2 * HOUR)
    over = ageing.save("La oferta vale hoy", nivel="semantica", expires_at=end)
    critical = ageing.save("El contrato vence", critico=True, expires_at=end)
    ageing.days(0.05)
    assert ageing.both("decay_hipocampo")[0] == []
    ageing.days(0.05)
    assert ageing.both("decay_hipocampo")[0] == [over]
    assert ageing.row(over).archived_reason == "expired"
    assert ageing.row(critical).archived_at is None


def test_an_expired_memory_is_not_consolidated(ageing: Ageing) -> None:
    ageing.save("La oferta vale hoy", expires_at=to_iso(START + HOUR))
    ageing.days(8)
    assert ageing.both("consolidate_hipocampo")[0] == []


# -- restoring -----------------------------------------------------------------------------------


def test_a_restored_memory_is_as_before(ageing: Ageing) -> None:
    number = ageing.save("El zarigüeyómetro marca siete", categories=["Ciencia"], code="z1", session_id="s")
    ageing.call("update_hipocampo", id=number, content="El zarigüeyómetro marca nueve")
    before = ageing.call("get_hipocampo", id=number)
    ageing.days(40)
    ageing.both("decay_hipocampo")
    reply = ageing.call("restaurar_historica", id=number)
    assert (reply["status"], reply["id"], reply["tier"], reply["warnings"]) == ("restored", number, "WARM", [])
    after = ageing.call("get_hipocampo", id=number)
    assert after["versions"] == before["versions"]
    assert _but_use(after["memory"]) == _but_use(before["memory"])
    assert number in ageing.found("zarigüeyómetro")


def test_a_restored_memory_gets_its_vector_again(tmp_path: Path) -> None:
    with Ageing(tmp_path, embedder="hash") as ageing:
        number = ageing.save("El zarigüeyómetro marca siete")
        ageing.embed()
        assert ageing.call("get_hipocampo", id=number)["tier"] == "HOT"
        ageing.both("decay_hipocampo", min_age_days=0)
        assert ageing.call("get_hipocampo", id=number)["tier"] == "COLD"
        assert ageing.call("restaurar_historica", id=number)["tier"] == "WARM"
        ageing.embed()
        assert ageing.call("get_hipocampo", id=number)["tier"] == "HOT"


def test_an_expired_memory_comes_back_without_end(ageing: Ageing) -> None:
    number = ageing.save("La oferta vale hoy", expires_at=to_iso(START + HOUR))
    ageing.days(1)
    ageing.both("decay_hipocampo")
    assert ageing.call("restaurar_historica", id=number)["warnings"]
    assert ageing.row(number).expires_at is None
    assert ageing.found("oferta") == [number]
    assert ageing.both("decay_hipocampo")[0] == []


def test_a_twin_that_was_saved_meanwhile_is_named(ageing: Ageing) -> None:
    number = ageing.save("El taller abre a las ocho")
    ageing.both("decay_hipocampo", min_age_days=0)
    twin = ageing.save("El taller abre a las ocho")
    (warning,) = _warnings(ageing.call("restaurar_historica", id=number))
    assert f"id={twin}" in warning


def test_restoring_what_is_not_archived_changes_nothing(ageing: Ageing) -> None:
    number = ageing.save("El taller abre a las ocho")
    before = ageing.row(number)
    assert ageing.call("restaurar_historica", historica_id=number)["status"] == "unchanged"
    assert ageing.row(number) == before


def test_an_unknown_memory_is_not_found(ageing: Ageing) -> None:
    with pytest.raises(NotFound):
        ageing.call("restaurar_historica", id=999)


@pytest.mark.parametrize("days", [-1, 1.5, "x"])
def test_days_are_whole_and_not_negative(ageing: Ageing, days: object) -> None:
    with pytest.raises(InvalidInput) as error:
        ageing.call("decay_hipocampo", min_age_days=days)
    assert error.value.field == "min_age_days"


def test_other_collections_are_left_alone(tmp_path: Path) -> None:
    with Ageing(tmp_path) as ageing, Memory(tmp_path / "memory.db", embedder="none", collection="otra") as other:
        number = other.save_hipocampo("Lo de la otra", expires_at=to_iso(START)).get("id")
        for name in ("consolidate_hipocampo", "decay_hipocampo"):
            assert ageing.both(name, min_age_days=0)[0] == []
        with pytest.raises(NotFound):
            ageing.call("restaurar_historica", id=number)


def _candidates(reply: Mapping[str, object]) -> list[Mapping[str, int]]:
    return cast("list[Mapping[str, int]]", reply["candidates"])


def _warnings(reply: Mapping[str, object]) -> list[str]:
    return cast("list[str]", reply["warnings"])


def _but_use(memory: object) -> dict[str, object]:
    return {key: value for key, value in cast("dict[str, object]", memory).items() if "used" not in key}
