"""What the graph tools promise, each where memory servers have failed their users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.process.support.graph import (
    additions,
    clear,
    entities,
    entity,
    refused,
    relations,
    snapshot,
    triple,
)
from tests.process.support.launch import start_evoca

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.support.client import Server


def test_a_relation_is_shown_from_either_end(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Orquídea"), entity("Invernadero")))
    evoca.ok("create_relations", relations(triple("Orquídea", "crece_en", "Invernadero")))
    wanted = [("Orquídea", "crece_en", "Invernadero")]
    for tool, arguments, names in (
        ("open_nodes", {"names": ["Orquídea"]}, ["Orquídea"]),
        ("open_nodes", {"names": ["Invernadero"]}, ["Invernadero"]),
        ("search_nodes", {"query": "orquídea"}, ["Orquídea"]),
    ):
        reply = evoca.ok(tool, arguments)
        assert set(reply.data) == {"entities", "relations"}
        assert reply.names() == names
        assert reply.triples() == wanted


def test_a_relation_to_an_unknown_entity_is_refused_and_named(evoca: Server) -> None:
    refused(evoca.call("create_relations", relations(triple("Fantasma 1", "conoce", "Fantasma 2"))), "Fantasma 1")
    assert evoca.ok("read_graph").triples() == []


def test_the_good_relations_of_a_call_are_made_and_the_bad_ones_named(evoca: Server) -> None:
    """Per element, as the public contract has it: the newest reference refuses the whole call instead."""
    evoca.ok("create_entities", entities(entity("Pozo"), entity("Molino")))
    reply = evoca.ok(
        "create_relations", relations(triple("Pozo", "junto_a", "Molino"), triple("Pozo", "junto_a", "Fantasma"))
    )
    first, second = reply.objects("relations")
    assert first == triple("Pozo", "junto_a", "Molino")
    assert second["error"] == "Entity not found: Fantasma"
    assert reply.strings("errors") == ["Entity not found: Fantasma"]
    assert evoca.ok("read_graph").triples() == [("Pozo", "junto_a", "Molino")]


def test_duplicates_inside_one_call_are_stored_once(evoca: Server) -> None:
    """Observations given under one name twice are merged; the reference keeps the first item and drops the second."""
    reply = evoca.ok("create_entities", entities(entity("Cometa", "a"), entity("Cometa", "b"), entity("Cielo")))
    assert reply.names() == ["Cometa", "Cielo"]
    assert reply.observations("Cometa") == ["a", "b"]
    link = triple("Cometa", "está_en", "Cielo")
    made = evoca.ok("create_relations", relations(link, link)).objects("relations")
    assert "error" not in made[0]
    assert made[1]["error"] == "Relation already exists"
    added = evoca.ok("add_observations", additions(("Cometa", ["azul", "azul"]), ("Cometa", ["azul"])))
    assert [item["addedObservations"] for item in added.objects("results")] == [["azul"], []]
    graph = evoca.ok("read_graph")
    assert graph.observations("Cometa") == ["a", "b", "azul"]
    assert graph.triples() == [("Cometa", "está_en", "Cielo")]


def test_a_call_with_one_unknown_entity_changes_nothing(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Molino"), entity("Río")))
    before = snapshot(evoca)
    reply = evoca.call("add_observations", additions(("Molino", ["gira"]), ("Molimo", ["gira"]), ("Río", ["corre"])))
    refused(reply, "Entity with name Molimo not found")
    assert snapshot(evoca) == before
    seed_form = evoca.call("add_observations", {"name": "Molimo", "observations": ["gira"]})
    refused(seed_form, "Entity not found: Molimo")
    assert snapshot(evoca) == before


def test_a_call_with_one_bad_item_creates_nothing(evoca: Server) -> None:
    before = snapshot(evoca)
    reply = evoca.call("create_entities", {"entities": [entity("Una"), {"entityType": "cosa"}, entity("Otra")]})
    sentence = refused(reply)
    assert sentence.startswith("1 validation error for EntityInput\nname\n  Field required")
    assert "1" in sentence.removeprefix("1 validation error for EntityInput"), "the index of the item is not named"
    assert snapshot(evoca) == before


def test_a_deletion_says_what_was_not_there(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Alondra", "canta al alba."), entity("Nido")))
    evoca.ok("create_relations", relations(triple("Alondra", "vive_en", "Nido")))

    texts = evoca.ok(
        "delete_observations", {"deletions": [{"entityName": "Alondra", "observations": ["canta al alba"]}]}
    )
    assert texts.data["success"] is True
    assert texts.data["message"] != "Observations deleted successfully"

    swapped = evoca.ok("delete_relations", relations(triple("Nido", "vive_en", "Alondra")))
    assert swapped.data["success"] is True
    assert swapped.objects("deleted") == []
    assert swapped.strings("errors") == ["Relation not found: Nido -> Alondra (vive_en)"]

    gone = evoca.ok("delete_entities", {"entityNames": ["Alondra", "Alomdra", "Alondra"]})
    assert gone.strings("deleted") == ["Alondra"]
    assert gone.strings("errors") == ["Entity not found: Alomdra"]
    assert "Alomdra" in str(gone.data["message"])
    assert "1" in str(gone.data["message"])

    whole = evoca.ok("delete_entities", {"entityNames": ["Nido"]})
    assert whole.data["message"] == "Entities deleted successfully"
    assert "errors" not in whole.data


def test_a_deletion_from_an_unknown_entity_is_told_in_both_forms(evoca: Server) -> None:
    official = evoca.ok("delete_observations", {"deletions": [{"entityName": "Nadie", "observations": ["x"]}]})
    assert official.data["success"] is True
    assert any("Nadie" in text for text in official.strings("errors"))
    refused(evoca.call("delete_observations", {"name": "Nadie", "observations": ["x"]}), "Entity not found: Nadie")


def test_creating_again_keeps_what_is_not_said(evoca: Server) -> None:
    first = {"name": "Faro", "entityType": "Proyecto", "status": "pausado", "observations": ["alumbra"]}
    evoca.ok("create_entities", {"entities": [first]})
    again = evoca.ok("create_entities", {"entities": [{"name": "Faro", "observations": ["alumbra", "gira"]}]})
    assert again.strings("created") == []
    assert again.strings("updated") == ["Faro"]
    (opened,) = evoca.ok("open_nodes", {"names": ["Faro"], "details": True}).objects("entities")
    assert (opened["entityType"], opened["status"]) == ("Proyecto", "pausado")
    assert opened["observations"] == ["alumbra", "gira"]


def test_a_replaced_observation_is_hidden_and_can_come_back(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Router", "IP 192.168.7.1")))
    (opened,) = evoca.ok("open_nodes", {"names": ["Router"], "details": True}).objects("entities")
    details = opened["observation_details"]
    assert isinstance(details, list)
    old = details[0]
    assert isinstance(old, dict)
    evoca.ok("add_observations", {"name": "Router", "observations": ["IP 192.168.9.1"], "supersedes": old["id"]})
    assert evoca.ok("read_graph").observations("Router") == ["IP 192.168.9.1"]
    assert evoca.ok("search_nodes", {"query": "192.168.7.1"}).names() == []
    shown = evoca.ok("open_nodes", {"names": ["Router"], "include_superseded": True})
    assert shown.observations("Router") == ["IP 192.168.7.1", "IP 192.168.9.1"]
    evoca.ok("add_observations", {"name": "Router", "observations": ["IP 192.168.7.1"]})
    assert evoca.ok("read_graph").observations("Router") == ["IP 192.168.9.1", "IP 192.168.7.1"]


def test_a_relation_and_its_inverse_come_and_go_together(evoca: Server) -> None:
    evoca.ok("create_entities", entities(entity("Casa"), entity("Cocina")))
    evoca.ok("create_relations", relations(triple("Casa", "contiene", "Cocina")))
    both = [("Casa", "contiene", "Cocina"), ("Cocina", "parte_de", "Casa")]
    assert evoca.ok("read_graph").triples() == both
    evoca.ok("delete_relations", relations(triple("Cocina", "parte_de", "Casa")))
    assert evoca.ok("read_graph").triples() == []


@pytest.fixture
def large(evoca: Server) -> Server:
    """2,000 entities of five observations and 3,000 relations."""
    text = "La nota número {} de la entidad {} habla con calma de lo que pasó en el taller durante todo aquel invierno."
    for begin in range(0, 2_000, 500):
        items = [entity(f"E-{n:04d}", *(text.format(k, n) for k in range(5))) for n in range(begin, begin + 500)]
        evoca.ok("create_entities", entities(*items))
    pairs = [(n % 2_000, (n * 7 + n // 2_000 + 1) % 2_000) for n in range(3_000)]
    links = [triple(f"E-{a:04d}", "sigue_a", f"E-{b:04d}") for a, b in pairs]
    evoca.ok("create_relations", relations(*links))
    return evoca


def test_a_large_graph_can_be_read_whole_and_walked_in_pages(large: Server) -> None:
    """The walk gives each entity exactly once even while another client writes."""
    whole = large.ok("read_graph")
    assert set(whole.data) == {"entities", "relations"}
    assert len(whole.names()) == 2_000
    assert len(whole.triples()) == 3_000
    seen: list[str] = []
    more, page = True, 0
    while more:
        reply = large.ok("read_graph", {"limit": 150, "offset": 150 * page})
        assert reply.number("total") == 2_000 + page
        more = bool(reply.data["has_more"])
        seen += reply.names()
        large.ok("create_entities", entities(entity(f"Nueva-{page}")))
        page += 1
    assert len(seen) == len(set(seen))
    assert {f"E-{n:04d}" for n in range(2_000)} <= set(seen)
    found = large.ok("search_nodes", {"query": "entidad 17 ", "limit": 10})
    assert found.names() == ["E-0017"]
    assert (found.number("total"), found.data["has_more"]) == (1, False)
    clear(large)


def test_another_server_sees_a_change_without_a_restart(home: Path, store: Path) -> None:
    uri = "memory://knowledge-graph"
    with start_evoca(home, store) as one, start_evoca(home, store) as other:
        other.ok("read_graph")
        other.request("resources/subscribe", {"uri": uri})
        seen = len(other.notifications)
        one.ok("create_entities", entities(entity("Alba")))
        assert other.ok("read_graph").names() == ["Alba"]
        notice = other.wait_notification("notifications/resources/updated", seen)
        assert notice["params"] == {"uri": uri}
