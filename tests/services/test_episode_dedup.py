"""Copies are merged, nothing else is, and a merge can be taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from evoca.domain.clock import to_iso
from evoca.domain.episodes import NewEpisodeLink
from evoca.errors import InvalidInput, NotFound
from evoca.services.episodes import settle_superseded
from evoca.storage.contract import Session
from tests.services.ageing import START, Ageing

TEXT = "El taller abre a las ocho de la mañana"
NEARLY = "Taller abre a las ocho de la mañana"


@pytest.fixture
def ageing(tmp_path: Path) -> Iterator[Ageing]:
    with Ageing(tmp_path) as opened:
        yield opened


def candidates(reply: Mapping[str, object]) -> list[tuple[int, object]]:
    return [(each["id"], each.get("survivor")) for each in cast("list[dict[str, int]]", reply["candidates"])]


def categories(ageing: Ageing, number: int) -> tuple[str, ...]:
    return ageing.row(number).categories


def links(ageing: Ageing, number: int) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", ageing.call("get_hipocampo", id=number)["links"])


def test_exact_copies_go_into_the_oldest(ageing: Ageing) -> None:
    first, second, third = ageing.save(TEXT), ageing.save(TEXT), ageing.save(f"{TEXT.upper()} ")
    changed, reply = ageing.both("hipocampo_dedup")
    assert changed == [second, third]
    assert candidates(reply) == [(second, first), (third, first)]
    assert ageing.found("taller ocho") == [first]
    with pytest.raises(NotFound, match=f"se fusionó en id={first}"):
        ageing.call("update_hipocampo", id=second, code="x")


def test_sessions_are_never_crossed(ageing: Ageing) -> None:
    for session_id in ("", "a", "b"):
        ageing.save(TEXT, session_id=session_id)
    assert ageing.both("hipocampo_dedup")[0] == []


def test_different_facts_stay(ageing: Ageing) -> None:
    texts = """La IP del router es 192.168.7.1|La IP del router es 192.168.9.1|Vuelo el 3 de mayo|Vuelo el 13 de mayo
Talla 38|Talla 48|Prueba 17: 812 ms|Prueba 18: 815 ms""".replace("\n", "|").split("|")
    numbers = [ageing.save(text) for text in texts]
    changed, reply = ageing.both("hipocampo_dedup")
    assert (changed, reply["flagged"]) == ([], [])
    assert all(row.merged_into is None for row in ageing.rows(numbers).values())


def test_critical_memories_take_no_part(ageing: Ageing) -> None:
    critical = ageing.save(TEXT, critico=True, categories=["a"])
    copy = ageing.save(TEXT, categories=["b"])
    ageing.save(TEXT, critico=True)
    before = ageing.row(critical)
    assert ageing.both("hipocampo_dedup")[0] == []
    assert ageing.row(critical) == before
    assert ageing.row(copy).merged_into is None


def test_archived_superseded_and_expired_memories_take_no_part(ageing: Ageing) -> None:
    archived, superseded = ageing.save(TEXT), ageing.save(TEXT)
    ageing.save(TEXT, expires_at=to_iso(START + 1_000_000))
    ageing.days(1)
    live = ageing.save(TEXT)

    def work(session: Session) -> None:
        session.episodes.archive([archived], "decay", ageing.clock.now())
        session.episodes.supersede(superseded, live)

    ageing.runtime.store.write(work)
    assert ageing.both("hipocampo_dedup")[0] == []


def test_near_identical_memories_are_merged_by_their_vectors(tmp_path: Path) -> None:
    with Ageing(tmp_path, embedder="hash") as ageing:
        first, second = ageing.save(TEXT), ageing.save(NEARLY)
        flagged = ageing.call("hipocampo_dedup")
        assert candidates(flagged) == []
        assert [(each["id"], each["duplicate_of"]) for each in _flagged(flagged)] == [(second, first)]
        ageing.embed()
        assert ageing.both("hipocampo_dedup")[0] == [second]


def test_without_a_model_near_identical_ones_are_only_flagged(ageing: Ageing) -> None:
    first, second = ageing.save(TEXT), ageing.save(NEARLY)
    changed, reply = ageing.both("hipocampo_dedup")
    assert changed == []
    (flagged,) = _flagged(reply)
    assert (flagged["id"], flagged["duplicate_of"], flagged["similarity"]) == (second, first, None)


def test_the_survivor_is_the_one_that_matters_more(ageing: Ageing) -> None:
    plain, rule = ageing.save(TEXT), ageing.save(TEXT, nivel="automatica")
    short = ageing.save("Compra pan", expires_at=to_iso(START + 10**12))
    lasting = ageing.save("Compra pan")
    assert candidates(ageing.call("hipocampo_dedup")) == [(plain, rule), (short, lasting)]


def test_what_was_used_survives(ageing: Ageing) -> None:
    unused, used = ageing.save(TEXT), ageing.save(TEXT)
    ageing.call("get_hipocampo", id=used)
    assert candidates(ageing.call("hipocampo_dedup")) == [(unused, used)]


def test_categories_and_links_go_to_the_survivor(ageing: Ageing) -> None:
    first = ageing.save(TEXT, categories=["Taller"])
    second = ageing.save(TEXT, categories=["taller", "Horario"])
    other, third = ageing.save("La dueña es Iria"), ageing.save("El pan es bueno")
    ageing.call("link_hipocampo", source_id=second, target_id=other, relation_type="part_of", weight=0.4)
    ageing.call("link_hipocampo", source_id=first, target_id=third)
    ageing.call("link_hipocampo", source_id=second, target_id=third)
    ageing.call("link_hipocampo", source_id=second, target_id=first, relation_type="similar")
    before = {each: links(ageing, each) for each in (first, second, other, third)}
    ageing.both("hipocampo_dedup")
    assert categories(ageing, first) == ("Taller", "Horario")
    assert [(each["source_id"], each["target_id"], each["relation_type"]) for each in links(ageing, first)] == [
        (first, other, "part_of"),
        (first, third, "related"),
    ]
    assert links(ageing, first)[0]["weight"] == 0.4
    reply = ageing.call("undo_hipocampo_dedup", id=second)
    assert (reply["changed"], reply["status"]) == ([second], "changed")
    assert categories(ageing, first) == ("Taller",)
    assert categories(ageing, second) == ("taller", "Horario")
    assert {each: links(ageing, each) for each in before} == before
    assert sorted(ageing.found("taller ocho")) == [first, second]


def test_undoing_the_last_run_leaves_the_one_before(ageing: Ageing) -> None:
    first, second = ageing.save(TEXT), ageing.save(TEXT)
    ageing.both("hipocampo_dedup")
    ageing.days(1)
    third = ageing.save(TEXT)
    ageing.both("hipocampo_dedup")
    dry = ageing.call("undo_hipocampo_dedup", dry_run=True)
    assert candidates(dry) == [(third, first)]
    assert ageing.row(third).merged_into == first
    assert ageing.call("undo_hipocampo_dedup")["changed"] == [third]
    assert ageing.row(third).merged_into is None
    assert ageing.row(second).merged_into == first
    assert ageing.call("undo_hipocampo_dedup", id=third)["changed"] == []
    assert ageing.call("undo_hipocampo_dedup", id=first)["changed"] == [second]
    assert ageing.call("undo_hipocampo_dedup")["changed"] == []


def test_chains_of_merges_come_apart_in_any_order(ageing: Ageing) -> None:
    first = ageing.save(TEXT)
    second = ageing.save(TEXT, categories=["b"])
    other = ageing.save("La dueña es Iria")
    ageing.call("link_hipocampo", source_id=second, target_id=other)
    ageing.both("hipocampo_dedup")
    ageing.days(1)
    rule = ageing.save(TEXT, nivel="automatica")
    ageing.both("hipocampo_dedup")
    assert ageing.row(first).merged_into == rule
    assert categories(ageing, rule) == ("b",)
    assert [each["source_id"] for each in links(ageing, other)] == [rule]
    for number in (second, first):
        ageing.call("undo_hipocampo_dedup", id=number)
    rows = ageing.rows([first, second, rule])
    assert {row.merged_into for row in rows.values()} == {None}
    assert len(links(ageing, other)) == 1


def test_what_a_copy_had_superseded_follows_it(ageing: Ageing) -> None:
    former, first, second = ageing.save("El taller abre a las nueve"), ageing.save(TEXT), ageing.save(TEXT)
    details = json.dumps({"auto": True, "confidence": 0.9, "supersedes": True})

    def work(session: Session) -> None:
        link = NewEpisodeLink(second, former, "contradicts", 0.9, details)
        session.episode_links.insert(ageing.collection, link, ageing.clock.now())
        settle_superseded(session, ageing.collection, [former])

    ageing.runtime.store.write(work)
    assert ageing.row(former).superseded_by == second
    ageing.both("hipocampo_dedup")
    assert ageing.row(former).superseded_by == first
    ageing.call("undo_hipocampo_dedup")
    assert ageing.row(former).superseded_by == second
    ageing.call("unlink_hipocampo", source_id=second, target_id=former)
    assert ageing.row(former).superseded_by is None


def test_what_the_survivor_got_since_stays(ageing: Ageing) -> None:
    first, second = ageing.save(TEXT), ageing.save(TEXT, categories=["b"])
    ageing.both("hipocampo_dedup")
    ageing.call("update_hipocampo", id=first, categories=["b", "c"])
    ageing.call("undo_hipocampo_dedup", id=second)
    assert categories(ageing, first) == ("c",)


def test_an_unknown_memory_is_not_found(ageing: Ageing) -> None:
    with pytest.raises(NotFound):
        ageing.call("undo_hipocampo_dedup", id=999)


def test_a_threshold_below_near_identity_is_refused(ageing: Ageing) -> None:
    with pytest.raises(InvalidInput):
        ageing.call("hipocampo_dedup", threshold=0.5)


def test_figures_count_every_memory(tmp_path: Path) -> None:
    with Ageing(tmp_path, embedder="hash") as ageing:
        first, second = ageing.save(TEXT, session_id="s"), ageing.save(TEXT, session_id="s")
        ageing.save("Regla", nivel="automatica", critico=True)
        ageing.embed()
        old = ageing.save("Nota vieja")
        ageing.call("link_hipocampo", source_id=first, target_id=second)
        stats = ageing.call("hipocampo_stats")
        assert stats["by_tier"] == {"HOT": 3, "WARM": 1, "COLD": 0}
        assert (stats["links"], stats["pending"], stats["sessions"]) == ({"related": 1}, 1, 1)
        ageing.both("hipocampo_dedup")
        ageing.both("decay_hipocampo", min_age_days=0)
        stats = ageing.call("hipocampo_stats")
        assert ageing.row(old).archived_at is not None
        assert (stats["total"], stats["merged"], stats["critico"]) == (3, 1, 1)
        assert stats["by_nivel"] == {"episodica": 2, "semantica": 0, "automatica": 1}
        assert stats["by_tier"] == {"HOT": 1, "WARM": 0, "COLD": 2}


def test_what_was_merged_or_archived_waits_for_nothing(tmp_path: Path) -> None:
    with Ageing(tmp_path, embedder="hash") as ageing:
        for _ in range(3):
            ageing.save(TEXT)
        assert ageing.call("hipocampo_stats")["to_examine"] == 3
        ageing.both("hipocampo_dedup")
        assert ageing.call("hipocampo_stats")["to_examine"] == 1
        ageing.both("decay_hipocampo", min_age_days=0)
        assert ageing.call("hipocampo_stats")["to_examine"] == 0
        ageing.call("undo_hipocampo_dedup")
        ageing.embed()
        assert ageing.call("hipocampo_stats")["to_examine"] == 0


def test_a_sound_memory_is_healthy(ageing: Ageing) -> None:
    ageing.save(TEXT)
    health = ageing.call("hipocampo_health")
    checks = {each["name"]: each["ok"] for each in cast("list[dict[str, object]]", health["checks"])}
    assert {"store", "writable", "model", "pending"} <= set(checks)
    assert checks["store"]
    assert (health["status"] == "ok") == all(checks.values())


def test_a_missing_model_is_told(tmp_path: Path) -> None:
    with Ageing(tmp_path, embedder=f"onnx:{tmp_path / 'nothing'}") as ageing:
        ageing.save(TEXT)
        health = ageing.call("hipocampo_health")
        checks = {each["name"]: each["ok"] for each in cast("list[dict[str, object]]", health["checks"])}
        assert (health["status"], checks["model"]) == ("degraded", False)
        assert ageing.call("hipocampo_dedup")["candidates"] == []


def _flagged(reply: Mapping[str, object]) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", reply["flagged"])
