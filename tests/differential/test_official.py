"""Evoca against the official memory server: the same calls, the same answers, but for one table of differences."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.differential import differences as d
from tests.differential.differences import DIFFERENCES, Difference
from tests.process.support.client import object_at, objects_at, strings_at, text_at
from tests.process.support.launch import PROVING, ROOT

if TYPE_CHECKING:
    from tests.differential.graphs import Call
    from tests.differential.pair import Pair
    from tests.process.support.client import JsonObject

NAMES = (
    "Ana",
    "ana",
    "ANA",
    "Ñandú",
    "Nandu",
    "Café del Mar",
    "Cafe\u0301 del Mar",
    "Cafe del Mar",
    "Straße 9",
    "STRASSE 9",
    "plan_a",
    "planXa",
    "100% lana",
    "the staging cluster",
    "El Niño 🌊",
    "👩‍🚀 crew",
    "東京",
    'a "quoted" name',
    "tab\tand\nline",
    "back\\slash",
    "proyecto:faro",
    " padded ",
)
TYPES = ("persona", "Persona", "ÁREA", "system", "Generic", "tipo raro: 東")
TEXTS = (
    "vive en Gijón",
    "VIVE EN GIJÓN",
    "prefers to review on Fridays",
    "sube 100% seguro",
    "file_name",
    "fileXname",
    "El código del taller es 4471-K",
    "Ωμέγα ΣΙΓΜΑΣ",
    "İstanbul, ıssız",
    "ﬁn de año",
    "emoji 🎈🎈",
    "",
    " ",
)
PREDICATES = ("vive_en", "knows", "contiene", "parte_de", "depende de", "KNOWS")
QUERIES = ("ana", "CAFÉ", "cafe\u0301", "strasse", "ß", "_", "%", "100%", "a", "gijón", "", " ", "🎈", "京", "σ", "zzz")

free_text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
names = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES[:4]), free_text)
texts = st.one_of(st.sampled_from(TEXTS), free_text)
types = st.one_of(st.sampled_from(TYPES), free_text)
predicates = st.one_of(st.sampled_from(PREDICATES), free_text)
triples = st.tuples(names, predicates, names)
some_texts = st.lists(texts, max_size=4)

CALLS: dict[str, st.SearchStrategy[Call]] = {
    "create_entities": st.lists(st.tuples(names, types, some_texts), max_size=4).map(lambda v: d.create(*v)),
    "create_relations": st.lists(triples, max_size=4).map(lambda v: d.relate(*v)),
    "add_observations": st.lists(st.tuples(names, some_texts), max_size=3).map(lambda v: d.observe(*v)),
    "delete_entities": st.lists(names, max_size=3).map(lambda v: d.delete(*v)),
    "delete_observations": st.lists(st.tuples(names, some_texts), max_size=3).map(lambda v: d.forget(*v)),
    "delete_relations": st.lists(triples, max_size=3).map(lambda v: d.unrelate(*v)),
    "search_nodes": st.one_of(st.sampled_from(QUERIES), texts, names).map(d.search),
    "open_nodes": st.lists(names, max_size=4).map(lambda v: d.open_(*v)),
    "read_graph": st.just(d.READ),
}


@st.composite
def sequences(draw: st.DrawFn) -> list[Call]:
    """A graph to begin with (mostly of known names, so that later calls meet it), then any calls."""
    known = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5))
    start = d.create(*((name, draw(st.sampled_from(TYPES)), draw(some_texts)) for name in known))
    known_names = st.sampled_from(known)
    links = draw(st.lists(st.tuples(known_names, st.sampled_from(PREDICATES), known_names), max_size=4))
    aimed = st.one_of(
        st.tuples(known_names, some_texts).map(d.observe),
        st.tuples(known_names, some_texts).map(d.forget),
        st.lists(known_names, max_size=2).map(lambda v: d.delete(*v)),
        st.lists(known_names, max_size=4).map(lambda v: d.open_(*v)),
        st.sampled_from(links).map(d.unrelate) if links else st.nothing(),
    )
    rest = draw(st.lists(st.one_of(aimed, *CALLS.values()), max_size=8))
    return [start, d.relate(*links), *rest]


@settings(
    max_examples=1_500 if PROVING else 60,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(calls=sequences())
@pytest.mark.timeout(1_800 if PROVING else 240)
def test_the_same_calls_get_the_same_answers(pair: Pair, calls: list[Call]) -> None:
    pair.clear()
    for call in calls:
        event(call.tool)
        pair.step(call)


def _name(row: Difference) -> str:
    return row.subject


@pytest.mark.parametrize("row", [row for row in DIFFERENCES if row.example], ids=_name)
def test_each_difference_is_real(pair: Pair, row: Difference) -> None:
    """A row whose servers agree is out of date, and hides what it would excuse."""
    pair.clear()
    assert pair.differ(row.example)


@pytest.mark.parametrize("row", [row for row in DIFFERENCES if row.rewrite or row.expect], ids=_name)
def test_each_rule_accounts_for_its_difference(pair: Pair, row: Difference) -> None:
    pair.clear()
    for call in row.example:
        pair.step(call)


def test_the_text_block_is_the_structured_content(pair: Pair) -> None:
    pair.clear()
    calls = [
        d.create(("Ñandú", "ave", ["corre"]), ("Pampa", "lugar", [])),
        d.relate(("Ñandú", "vive_en", "Pampa")),
        d.observe(("Ñandú", ["no vuela"])),
        d.observe(("Nadie", ["x"])),
        d.READ,
        d.search("ñandú"),
        d.open_("Ñandú", "Nadie"),
        d.forget(("Ñandú", ["corre"])),
        d.unrelate(("Ñandú", "vive_en", "Pampa")),
        d.delete("Ñandú"),
    ]
    for call in calls:
        reply = pair.evoca.call(call.tool, call.arguments)
        assert reply.has_data, call
        assert json.loads(reply.text) == reply.data, call
        official = pair.official.call(call.tool, call.arguments)
        assert official.text != reply.text, f"{call}: the row of the table is out of date"


def test_the_nine_tools_take_the_reference_arguments(pair: Pair) -> None:
    """Each argument of the reference is one of ours, and we require no other one."""
    ours = {tool["name"]: tool for tool in pair.evoca.tools()}
    for theirs in pair.official.tools():
        name = str(theirs["name"])
        reference, own = object_at(theirs, "inputSchema"), object_at(ours[name], "inputSchema")
        assert _arguments(reference) <= _arguments(own), name
        assert _required(own) <= _required(reference), name
        assert ours[name]["title"] == theirs["title"]
        hints = object_at(theirs, "annotations")
        assert hints.items() <= object_at(ours[name], "annotations").items(), name


def _arguments(schema: JsonObject) -> set[str]:
    return set(object_at(schema, "properties"))


def _required(schema: JsonObject) -> set[str]:
    return set(strings_at(schema, "required")) if "required" in schema else set()


def test_the_resource_of_the_reference_is_served(pair: Pair) -> None:
    pair.clear()
    pair.step(d.create(("Ana", "persona", ["vive en Gijón"])))
    uri = "memory://knowledge-graph"
    documents: list[object] = []
    for server in (pair.official, pair.evoca):
        (content,) = objects_at(server.request("resources/read", {"uri": uri}), "contents")
        assert content["mimeType"] == "application/json"
        assert content["uri"] == uri
        documents.append(json.loads(text_at(content, "text")))
    assert documents[0] == documents[1]


def test_a_subscriber_of_either_server_hears_of_a_change(pair: Pair) -> None:
    pair.clear()
    for server in (pair.official, pair.evoca):
        server.request("resources/subscribe", {"uri": "memory://knowledge-graph"})
        seen = len(server.notifications)
        call = d.create(("Ana", "persona", []))
        server.ok(call.tool, call.arguments)
        notice = server.wait_notification("notifications/resources/updated", seen)
        assert notice["params"] == {"uri": "memory://knowledge-graph"}
        server.request("resources/unsubscribe", {"uri": "memory://knowledge-graph"})


def test_the_documented_table_is_this_table() -> None:
    """docs/compatibility.md has exactly these rows, word for word."""
    text = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|(.+)\|$", text, re.MULTILINE)
    cells = [tuple(cell.strip() for cell in row.split("|")) for row in rows]
    wanted = [(row.subject, row.official, row.evoca, row.reason) for row in DIFFERENCES]
    documented = [row for row in cells if len(row) == 4 and row[0] in {w[0] for w in wanted}]
    assert documented == wanted


def test_every_difference_is_shown_by_something() -> None:
    for row in DIFFERENCES:
        assert row.example or row.proof, row.subject
        if row.proof:
            file, _, function = row.proof.partition("::")
            assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), row.proof
