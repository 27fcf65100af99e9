"""Exports of a memory that has lived: nothing of it stays behind (case B008)."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from evoca import Memory
from evoca.domain.clock import FrozenClock
from evoca.storage import open_store
from evoca.storage.contract import Session
from evoca.storage.tables import TABLES, Table
from evoca.storage.transfer_contract import Cells
from tests.support.engines import ENGINES, Servers
from tests.support.filled import fill

LEFT_BEHIND = {
    "collections": "the envelope tells what it is called",
    "models": "vectors are made anew",
    "vectors": "vectors are made anew",
    "documents": "made anew from the texts",
    "pending": "made anew from the texts",
    "unindexed_edges": "imported edges are indexed at once",
    "keys": "keys belong to a server, not to what it remembers",
    "key_collections": "keys belong to a server, not to what it remembers",
    "metadata": "the store's own",
}
REFERENCES = {"supersedes", "possible_duplicate_of", "superseded_by", "merged_into", "lease_owner", "leased_until"}
"""Ids by another name, and leases."""


def records(path: Path) -> list[dict[str, object]]:
    return [cast("dict[str, object]", json.loads(line)) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_table_comes_over(engine: str, servers: Servers, tmp_path: Path) -> None:
    source = str(tmp_path / "source.db")
    fill(source)
    with Memory(source, embedder="none") as memory:
        memory.export_to(tmp_path / "one.jsonl")
    with servers.place(engine, tmp_path) as target:
        with Memory(target, embedder="none") as memory:
            memory.import_from(tmp_path / "one.jsonl")
            memory.export_to(tmp_path / "two.jsonl")
            assert not any(memory.import_from(tmp_path / "one.jsonl")["added"].values())
        assert records(tmp_path / "two.jsonl")[1:] == records(tmp_path / "one.jsonl")[1:]
        held = [contents(place) for place in (source, target)]
        for table in TABLES:
            if table.name not in LEFT_BEHIND:
                assert held[1][table.name] == held[0][table.name], table.name
                assert held[0][table.name] or table.name == "enrichments"
        with closing(open_store(target, FrozenClock(1))) as store:
            assert store.check()["integrity"] == "ok"


def contents(place: str) -> dict[str, Counter[Cells]]:
    """The default collection's rows of each table, without ids, which are the store's own."""

    def work(session: Session) -> dict[str, Counter[Cells]]:
        return {table.name: Counter(rows_of(session, table)) for table in TABLES}

    with closing(open_store(place, FrozenClock(1))) as store:
        return store.read(work)


def rows_of(session: Session, table: Table) -> list[Cells]:
    columns = table.columns
    home = columns.index("collection_id") if "collection_id" in columns else None
    hidden = {place for place, name in enumerate(columns) if name.endswith("id") and name != "session_id"}
    hidden |= {place for place, name in enumerate(columns) if name in REFERENCES}
    hidden |= {columns.index("details")} if table.name == "merges" else set()
    return [
        tuple(type(cell).__name__ if place in hidden else cell for place, cell in enumerate(row))
        for row in session.rows.page(table, None, 1_000)
        if home is None or row[home] == 1
    ]


def test_the_ingredients_of_the_case_log(tmp_path: Path) -> None:
    with Memory(tmp_path / "one.db", embedder="hash:32") as memory:
        memory.create_entities(
            [
                {"name": "Óscar", "observations": ["Vive en Múnich", "Toca el piano"]},
                {"name": "Zoë 🦊", "entityType": "persona", "observations": ["Habla francés"]},
                {"name": "Río", "observations": ["Crece en abril"]},
            ]
        )
        memory.create_relations([{"from": "Óscar", "to": "Zoë 🦊", "relationType": "conoce_a"}])
        memory.create_relations([{"from": "Río", "to": "Óscar", "relationType": "contiene"}])
        memory.end_relation(from_="Óscar", to="Zoë 🦊", relationType="conoce_a")
        saved = [
            memory.save_hipocampo("La reunión es el martes", categories=["Trabajo", "agenda"], session_id="s 1"),
            memory.save_hipocampo("Siempre cifrar los discos", critico=True, nivel="automatica", code="regla"),
            memory.save_hipocampo("El código caduca pronto", expires_at="2031-05-01T12:00:00Z"),
            memory.save_hipocampo("La reunión no es el martes", session_id="s 1"),
            memory.save_hipocampo("Una nota sin más"),
        ]
        ids = [cast("int", each.get("id")) for each in saved]
        memory.link_hipocampo(ids[0], ids[1], relation_type="causa", weight=0.25)
        memory.link_hipocampo(ids[2], ids[4])
        memory.remember("Óscar", "vive_en", value="Múnich", valid_from="2020-01-01T00:00:00Z", source="Zoë")
        memory.remember("Óscar", "vive_en", value="Viena", valid_from="2024-05-01T00:00:00Z", confidence=0.5)
        memory.remember("Zoë 🦊", "amiga_de", object="Óscar", context="desde niños")
        memory.export_to(tmp_path / "one.jsonl")
        graph, facts = memory.read_graph(), memory.recall("Óscar", include_ended=True)["facts"]
    with Memory(tmp_path / "two.db", embedder="hash:32") as memory:
        counts = memory.import_from(tmp_path / "one.jsonl")["added"]
        assert (counts["entity"], counts["observation"], counts["episode"]) == (3, 4, 5)
        assert counts["edge"] == 6
        assert counts["link"] >= 2
        assert not any(memory.import_from(tmp_path / "one.jsonl")["added"].values())
        assert memory.read_graph() == graph
        told = memory.recall("Óscar", include_ended=True)["facts"]
        assert [without_id(each) for each in told] == [without_id(each) for each in facts]
        found = memory.search_hipocampo("código caduca")["memories"]
        assert found[0]["content"] == "El código caduca pronto"
        memory.export_to(tmp_path / "two.jsonl")
    one, two = (settled(records(tmp_path / name)) for name in ("one.jsonl", "two.jsonl"))
    assert two == one


def without_id(fact: object) -> dict[str, object]:
    return {key: value for key, value in cast("dict[str, object]", fact).items() if key != "id"}


def settled(lines: list[dict[str, object]]) -> list[dict[str, object]]:
    """An export but for its date, and for what the background finds out about memories in either store."""
    return [
        {key: value for key, value in line.items() if key not in ("unseen", "exported_at")}
        for line in lines
        if line.get("type") not in ("link", "end")
    ]
