"""migrate: everything usable comes in once, everything else is named (contract, Graph 7)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from evoca import Memory
from evoca.errors import EvocaError, InvalidInput


def entity(name: str, *observations: str, kind: str = "cosa") -> str:
    return json.dumps({"type": "entity", "name": name, "entityType": kind, "observations": observations})


def relation(subject: str, kind: str, other: str) -> str:
    return json.dumps({"type": "relation", "from": subject, "to": other, "relationType": kind})


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def counts(result: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(result[key] for key in ("entities_imported", "relations_imported", "unchanged", "skipped", "errors"))


def test_a_second_run_imports_nothing(memory: Memory, tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.jsonl", entity("Taller", "cierra lunes"), entity("Ada"), relation("Ada", "usa", "Taller")
    )
    before = path.read_bytes()
    assert counts(memory.migrate(path)) == (2, 1, 0, 0, 0)
    graph = memory.read_graph()
    assert counts(memory.migrate(path)) == (0, 0, 3, 0, 0)
    assert memory.read_graph() == graph
    assert path.read_bytes() == before


def test_relations_may_stand_before_their_entities(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "m.jsonl", relation("Ada", "usa", "Taller"), entity("Taller"), entity("Ada"))
    assert counts(memory.migrate(path)) == (2, 1, 0, 0, 0)


def test_records_glued_on_one_line_are_both_read(memory: Memory, tmp_path: Path) -> None:
    glued = entity("Taller", "cierra lunes") + relation("Taller", "vecino_de", "Taller")
    path = write(tmp_path / "m.jsonl", glued, entity("Ada"))
    assert counts(memory.migrate(path)) == (2, 1, 0, 0, 0)


def test_what_cannot_be_used_is_named_by_line(memory: Memory, tmp_path: Path) -> None:
    path = write(
        tmp_path / "m.jsonl",
        "",
        '{"type":"entity","name":"Sin tipo","observations":["x"]}',
        '{"type":"entity","name":"Sin obs","entityType":"cosa"}',
        '{"type":"entity","name":"Nula","entityType":"cosa","observations":[null,"vale"]}',
        "no soy json",
        '{"type":"relation","from":"Sin obs","to":"Nula"}',
        entity("Buena", "vale"),
        "[1, 2]",
        '{"type":"nota","name":"x"}',
        relation("Buena", "conoce", "Fantasma"),
        '{"type":"entity","entityType":"cosa"}',
        '{"type":"entity","name":"NUL","observations":["a\\u0000b","limpia"]}',
        '{"type":"entity","name":"media \\ud800"}',
        entity("Buena", "vale", "otra") + "garbage",
    )
    result = memory.migrate(path)
    assert counts(result) == (5, 0, 0, 8, 0)
    told = {(detail["line"], detail["reason"]) for detail in result["details"]}
    assert told == {
        (4, "observations[0] is missing; left out"),
        (5, "not JSON"),
        (6, "relationType is missing"),
        (8, "not a JSON object"),
        (9, "unknown type: not entity or relation"),
        (10, "Entity not found: Fantasma"),
        (11, "name is missing"),
        (12, "observations[0] holds a NUL or half of a surrogate pair; left out"),
        (13, "name holds a NUL or half of a surrogate pair"),
        (14, f"not JSON after character {len(entity('Buena', 'vale', 'otra'))}"),
    }
    assert [item["name"] for item in memory.search_nodes("vale")["entities"]] == ["Nula", "Buena"]
    assert memory.open_nodes(["Sin tipo"])["entities"][0]["entityType"] == "Generic"
    assert memory.open_nodes(["Buena"])["entities"][0]["observations"] == ["vale", "otra"]


def test_a_byte_order_mark_and_windows_line_ends(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + entity("Ada").encode() + b"\r\n" + entity("Bea").encode() + b"\r\n\xff\xfe\r\n")
    result = memory.migrate(path)
    assert counts(result) == (2, 0, 0, 1, 0)
    assert result["details"] == [{"line": 3, "reason": "not UTF-8 text"}]


def test_a_dry_run_tells_the_same_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "m.jsonl", entity("Taller", "x"), entity("Ada"), relation("Ada", "usa", "Taller"), "no")
    rehearsal = memory.migrate(path, dry_run=True)
    assert memory.read_graph() == {"entities": [], "relations": []}
    assert {**memory.migrate(path), "dry_run": True} == rehearsal


def test_many_lines_are_imported_in_groups(memory: Memory, tmp_path: Path) -> None:
    lines = [entity(f"e{number}", f"texto {number}") for number in range(1_300)]
    lines += [relation(f"e{number}", "sigue", f"e{number + 1}") for number in range(1_299)]
    assert counts(memory.migrate(write(tmp_path / "m.jsonl", *lines))) == (1_300, 1_299, 0, 0, 0)


def test_a_path_is_required(memory: Memory) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.migrate("")
    assert error.value.message.startswith("source_path is required")


def test_a_missing_file_is_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.migrate(tmp_path / "none.jsonl")
    assert error.value.message.startswith("[Errno 2] No such file or directory")
    assert "none.jsonl" in error.value.message


def test_home_is_expanded(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "m.jsonl", entity("Ada"))
    assert counts(memory.migrate("~/m.jsonl")) == (1, 0, 0, 0, 0)


def test_the_memory_file_is_imported_once_per_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "memory.jsonl", entity("Taller", "cierra lunes"))
    monkeypatch.setenv("MEMORY_FILE_PATH", str(path))

    def opened() -> list[str]:
        with Memory(tmp_path / "m.db", embedder="none") as memory:
            return [item["name"] for item in memory.read_graph()["entities"]]

    assert opened() == ["Taller"]
    assert "imported" in capsys.readouterr().err
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        memory.delete_entities(["Taller"])
    assert opened() == []
    assert "has not changed" in capsys.readouterr().err
    write(path, entity("Taller", "cierra martes"))
    assert opened() == ["Taller"]


def test_a_missing_memory_file_is_said_and_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "none.jsonl"))
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        assert memory.read_graph() == {"entities": [], "relations": []}
    assert "was not imported" in capsys.readouterr().err
    assert not (tmp_path / "none.jsonl").exists()


def test_how_far_apart_a_name_stands_twice_makes_no_difference(memory: Memory, tmp_path: Path) -> None:
    lines = [
        entity("A", "uno", kind="T1"),
        *(entity(f"e{number}") for number in range(600)),
        entity("A", "dos", kind="T2"),
    ]
    path = write(tmp_path / "m.jsonl", *lines)
    assert counts(memory.migrate(path)) == (601, 0, 0, 0, 0)
    assert memory.open_nodes(["A"])["entities"] == [{"name": "A", "entityType": "T1", "observations": ["uno", "dos"]}]
    assert counts(memory.migrate(path)) == (0, 0, 601, 0, 0)


def test_an_unknown_user_s_home_is_named(memory: Memory) -> None:
    with pytest.raises(InvalidInput) as error:
        memory.migrate("~nobody-of-this-name/memory.jsonl")
    assert error.value.field == "source_path"


REFUSE = "CREATE TRIGGER refuse BEFORE INSERT ON entities WHEN NEW.name = 'e700' BEGIN SELECT RAISE(ABORT, 'no'); END"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_an_import_that_was_cut_short_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "m.db"
    with Memory(store, embedder="none") as memory:
        memory.read_graph()
    path = write(tmp_path / "memory.jsonl", *(entity(f"e{number}") for number in range(1_200)))
    monkeypatch.setenv("MEMORY_FILE_PATH", str(path))
    change(store, REFUSE)
    with Memory(store, embedder="none") as memory, pytest.raises(EvocaError, match="incomplete: 500 records"):
        memory.read_graph()
    change(store, "DROP TRIGGER refuse")
    with Memory(store, embedder="none") as memory:
        assert len(memory.read_graph()["entities"]) == 1_200


def change(store: Path, statement: str) -> None:
    with closing(sqlite3.connect(store)) as database:
        database.execute(statement)
        database.commit()
