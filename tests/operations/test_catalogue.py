"""The catalogue as clients see it: short, complete, without surprises."""

from __future__ import annotations

import json

from evoca.operations.catalogue import CATALOGUE
from evoca.surfaces.mcp.server import tool

MOST_BYTES = 18_000
OFFICIAL = (
    "create_entities create_relations add_observations delete_entities delete_observations delete_relations "
    "read_graph search_nodes open_nodes"
).split()
OWN = (
    "search_semantic migrate analyze_entity_split propose_entity_split execute_entity_split find_split_candidates "
    "find_duplicate_observations consolidation_report end_relation add_reflection search_reflections"
).split()


def test_the_list_of_graph_tools_is_short() -> None:
    listed = [tool(each) for each in CATALOGUE if each.listed and each.toolset in ("graph", "graph-upkeep")]
    assert len(json.dumps({"tools": listed}, separators=(",", ":"), ensure_ascii=False).encode()) <= MOST_BYTES


def test_the_list_of_all_tools_is_bearable() -> None:
    listed = [tool(each) for each in CATALOGUE if each.listed]
    assert len(json.dumps({"tools": listed}, separators=(",", ":"), ensure_ascii=False).encode()) <= 40_000


def test_the_contract_s_tools_are_there() -> None:
    names = [each.name for each in CATALOGUE]
    assert set(OFFICIAL + OWN) <= set(names)
    assert [each.name for each in CATALOGUE if each.drop_in] == OFFICIAL


def test_both_spellings_of_the_split_tools_can_be_called() -> None:
    aliases = {alias: each.name for each in CATALOGUE for alias in each.aliases}
    assert aliases == {
        "propose_entity_split_tool": "propose_entity_split",
        "execute_entity_split_tool": "execute_entity_split",
    }


def test_what_needs_an_administrator() -> None:
    assert {each.name for each in CATALOGUE if each.hints.admin} == {
        "create_collection", "delete_collection", "migrate",
    }  # fmt: skip


def test_what_is_about_no_single_collection() -> None:
    assert {each.name for each in CATALOGUE if not each.in_collection} == {
        "create_collection", "list_collections", "describe_collection", "delete_collection",
    }  # fmt: skip


def test_names_are_used_once() -> None:
    names = [name for each in CATALOGUE for name in (each.name, *each.aliases)]
    assert len(set(names)) == len(names)
    assert len({each.rest_path for each in CATALOGUE}) == len(CATALOGUE)
    assert len({each.cli for each in CATALOGUE}) == len(CATALOGUE)


def test_every_tool_says_what_it_is_for_in_few_words() -> None:
    for each in CATALOGUE:
        assert 60 <= len(each.doc) <= 300, each.name
        assert each.doc.endswith("."), each.name
        assert each.title, each.name


def test_what_only_reads_destroys_nothing() -> None:
    assert not [each.name for each in CATALOGUE if each.hints.read_only and each.hints.destructive]
    assert {each.name for each in CATALOGUE if each.hints.destructive} == {
        "delete_entities", "delete_observations", "delete_relations", "execute_entity_split", "merge_entities",
        "update_observation", "delete_hipocampo", "unlink_hipocampo", "decay_hipocampo", "hipocampo_dedup",
        "update_fact", "forget", "forget_entity",
        "delete_collection",
    }  # fmt: skip
