"""Where the memory is and where it comes from: store paths, `migrate`, and files of the official server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.process.support.client import Json, number_at, objects_at, text_at
from tests.process.support.graph import entities, entity, names_in, refused
from tests.process.support.launch import start_evoca

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.support.client import Reply, Server

COUNTERS = ("entities_imported", "relations_imported", "errors", "skipped", "unchanged")


def _line(kind: str, **fields: Json) -> str:
    return json.dumps({"type": kind, **fields}, ensure_ascii=False)


def _entity(name: str, *observations: str) -> str:
    return _line("entity", name=name, entityType="cosa", observations=list(observations))


def _relation(subject: str, predicate: str, other: str) -> str:
    return _line("relation", **{"from": subject, "to": other, "relationType": predicate})


def _migrate(server: Server, file: Path, **options: Json) -> Reply:
    return server.ok("migrate", {"source_path": str(file), **options})


def _counts(reply: Reply) -> dict[str, float]:
    return {key: number_at(reply.data, key) for key in COUNTERS}


def _bad_lines(reply: Reply) -> set[float]:
    details = objects_at(reply.data, "details")
    assert all(text_at(item, "reason") for item in details)
    return {number_at(item, "line") for item in details}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memoria.jsonl"


def test_glued_records_do_not_make_a_file_unreadable(evoca: Server, file: Path) -> None:
    """Two records on one line without a newline at the end, as old versions of the reference left them."""
    glued = _entity("Taller", "cierra lunes") + _relation("Taller", "vecino_de", "Taller")
    file.write_text(f"{_entity('Buena', 'vale')}\n{glued}", encoding="utf-8")
    before = file.read_bytes()
    reply = _migrate(evoca, file)
    names = names_in(evoca)
    assert "Buena" in names
    assert "Taller" in names or 2 in _bad_lines(reply), "neither recovered nor reported"
    assert file.read_bytes() == before


def test_broken_lines_of_a_memory_file_are_counted_and_named(evoca: Server, file: Path) -> None:
    lines = [
        "",
        '{"type":"entity","name":"Sin tipo","observations":["x"]}',
        '{"type":"entity","name":"Sin obs","entityType":"cosa"}',
        '{"type":"entity","name":"Nula","entityType":"cosa","observations":[null,"vale"]}',
        "no soy json",
        '{"type":"relation","from":"Sin obs","to":"Nula"}',
        _entity("Entera", "vale mucho"),
        '{"type":"cosa"}',
        "[1, 2]",
        "7",
        _relation("Entera", "junto_a", "Fantasma"),
        '{"type":"entity","name":"","entityType":"cosa","observations":[]}',
        '{"type":"entity","name":"Cortada","entityType":"co',
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    reply = _migrate(evoca, file)
    named = _bad_lines(reply)
    unusable = {5, 6, 8, 9, 10, 11, 12, 13}
    assert unusable <= named
    assert not named & {1, 7}
    assert reply.number("skipped") == len(unusable), "each unusable line is counted once, mended ones are not"
    assert "Entera" in names_in(evoca)
    assert "Entera" in evoca.ok("search_nodes", {"query": "vale"}).names()
    evoca.ok("search_nodes", {"query": "x"})
    imported = names_in(evoca)
    for number, name in ((2, "Sin tipo"), (3, "Sin obs"), (4, "Nula")):
        assert name in imported or number in named, f"line {number} was dropped without a word"


def test_a_relation_may_stand_before_its_entities_and_a_second_run_changes_nothing(evoca: Server, file: Path) -> None:
    lines = [_relation("Pozo", "junto_a", "Molino"), _entity("Pozo", "seco", "hondo"), _entity("Molino")]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    dry = _migrate(evoca, file, dry_run=True)
    assert names_in(evoca) == set()
    first = _migrate(evoca, file)
    assert _counts(dry) == _counts(first)
    assert _counts(first) == dict(zip(COUNTERS, (2, 1, 0, 0, 0), strict=True))
    graph = evoca.ok("read_graph").data
    assert _counts(_migrate(evoca, file)) == dict(zip(COUNTERS, (0, 0, 0, 0, 3), strict=True))
    assert evoca.ok("read_graph").data == graph


def test_old_dangling_relations_are_reported_and_the_rest_is_loaded(evoca: Server, file: Path) -> None:
    file.write_text(f"{_relation('Faro', 'mira_a', 'Fantasma')}\n{_entity('Faro')}\n", encoding="utf-8")
    reply = _migrate(evoca, file)
    assert names_in(evoca) == {"Faro"}
    assert _bad_lines(reply) == {1}
    assert "Fantasma" in text_at(objects_at(reply.data, "details")[0], "reason")


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(evoca: Server, file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + f"{_entity('Ñu', 'corre')}\r\n{_entity('Ibis')}\r\n".encode())
    assert _migrate(evoca, file).number("skipped") == 0
    assert names_in(evoca) == {"Ñu", "Ibis"}


def test_migrate_names_a_file_that_cannot_be_read(evoca: Server, tmp_path: Path) -> None:
    refused(evoca.call("migrate", {"source_path": ""}), "source_path is required")
    refused(evoca.call("migrate", {}), "source_path is required")
    refused(evoca.call("migrate", {"source_path": str(tmp_path / "nada.jsonl")}), "nada.jsonl")
    refused(evoca.call("migrate", {"source_path": str(tmp_path)}), str(tmp_path))


def test_a_memory_file_is_imported_once_per_content_and_never_written(home: Path, store: Path, file: Path) -> None:
    file.write_text(_entity("Ana", "vive en Gijón"), encoding="utf-8")
    env = {"MEMORY_FILE_PATH": str(file)}
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    with start_evoca(home, store, env=env) as server:
        assert server.ok("read_graph").observations("Ana") == ["vive en Gijón"]
        server.ok("delete_entities", {"entityNames": ["Ana"]})
        server.ok("create_entities", entities(entity("Bea")))
        assert server.stop() == 0
        assert str(file) in server.stderr()
    with start_evoca(home, store, env=env) as again:
        assert names_in(again) == {"Bea"}, "what was deleted came back"
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    file.write_text(f"{_entity('Ana')}\n{_entity('Carla')}\n", encoding="utf-8")
    with start_evoca(home, store, env=env) as changed:
        assert names_in(changed) == {"Ana", "Bea", "Carla"}


def test_a_missing_memory_file_does_not_stop_the_server(home: Path, store: Path, file: Path) -> None:
    with start_evoca(home, store, env={"MEMORY_FILE_PATH": str(file)}) as server:
        server.ok("create_entities", entities(entity("Ana")))
        assert names_in(server) == {"Ana"}
    assert not file.exists()


def test_a_relative_memory_file_is_looked_up_in_the_current_folder(home: Path, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "proyecto"
    (folder / "datos").mkdir(parents=True)
    (folder / "datos/memoria.jsonl").write_text(_entity("Ana"), encoding="utf-8")
    with start_evoca(home, store, env={"MEMORY_FILE_PATH": "./datos/memoria.jsonl"}, cwd=folder) as server:
        assert names_in(server) == {"Ana"}


def test_a_relative_store_is_against_the_current_folder_and_stays_there(home: Path, tmp_path: Path) -> None:
    a, b = tmp_path / "A", tmp_path / "B"
    a.mkdir()
    b.mkdir()
    env = {"EVOCA_STORE": "./datos/memoria.db"}
    with start_evoca(home, env=env, cwd=a) as server:
        server.ok("create_entities", entities(entity("Ana")))
        server.stop()
        assert str(a / "datos/memoria.db") in server.stderr()
    with start_evoca(home, env=env, cwd=a) as again:
        assert names_in(again) == {"Ana"}
    with start_evoca(home, env=env, cwd=b) as elsewhere:
        assert names_in(elsewhere) == set()
    assert (a / "datos/memoria.db").is_file()
    assert (b / "datos/memoria.db").is_file()


@pytest.mark.parametrize(("given", "place"), [("~/mem.db", "mem.db"), ("$HOME/m/mem.db", "m/mem.db")])
def test_the_home_folder_in_a_store_path_is_expanded(home: Path, given: str, place: str) -> None:
    with start_evoca(home, env={"EVOCA_STORE": given}) as server:
        server.ok("create_entities", entities(entity("Ana")))
        server.stop()
        assert str(home / place) in server.stderr()
    assert (home / place).is_file()


def test_without_a_setting_the_store_is_in_the_user_data_folder(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "en otra parte"
    folder.mkdir()
    for names in ({"Ana"}, {"Ana", "Bea"}):
        with start_evoca(home, cwd=folder) as server:
            server.ok("create_entities", entities(entity("Bea" if "Bea" in names else "Ana")))
            assert names_in(server) == names
    made = list(home.rglob("*.db"))
    assert len(made) == 1
    assert made[0].parent.name == "evoca"
    assert list(folder.iterdir()) == []
