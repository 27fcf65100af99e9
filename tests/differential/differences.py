"""Every way in which Evoca answers otherwise than the official server, each decided and each narrow.

A `Difference` says how a call must be changed so that the official server does what Evoca does
(`rewrite`), or how its answer must be changed (`expect`). Whatever no row accounts for must be equal.
The texts of the rows stand, word for word, in docs/compatibility.md; a test compares them, and another
one proves with `example` that each difference is real.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from tests.differential.graphs import Call, Graph, Node, Outcome, Triple, triple_json

if TYPE_CHECKING:
    from tests.process.support.client import Json

INVERSES = {"contiene": "parte_de", "parte_de": "contiene"}


@dataclass(frozen=True, slots=True)
class Case:
    """A call on `before`, what the official server made of it, and the graph that it left."""

    call: Call
    before: Graph
    outcome: Outcome
    after: Graph


@dataclass(frozen=True, slots=True)
class Difference:
    """One row. `proof`: the test that shows it, for a difference that no call sequence can show.

    `restates`: `rewrite` says the same call in other words, so that later rules see the rewritten one.
    """

    subject: str
    official: str
    evoca: str
    reason: str
    example: tuple[Call, ...] = ()
    proof: str = ""
    restates: bool = False
    rewrite: Callable[[Call, Graph], Call] | None = None
    expect: Callable[[Case], Case] | None = None


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    return nfc(nfc(text).casefold())


# -- calls, for the examples ---------------------------------------------------------------------


def create(*nodes: tuple[str, str, list[str]]) -> Call:
    items: list[Json] = [{"name": n, "entityType": t, "observations": list(o)} for n, t, o in nodes]
    return Call("create_entities", {"entities": items})


def relate(*triples: Triple) -> Call:
    return Call("create_relations", {"relations": [triple_json(t) for t in triples]})


def unrelate(*triples: Triple) -> Call:
    return Call("delete_relations", {"relations": [triple_json(t) for t in triples]})


def observe(*items: tuple[str, list[str]]) -> Call:
    return Call("add_observations", {"observations": [{"entityName": n, "contents": list(c)} for n, c in items]})


def forget(*items: tuple[str, list[str]]) -> Call:
    return Call("delete_observations", {"deletions": [{"entityName": n, "observations": list(c)} for n, c in items]})


def delete(*names: str) -> Call:
    return Call("delete_entities", {"entityNames": list(names)})


def search(query: str) -> Call:
    return Call("search_nodes", {"query": query})


def open_(*names: str) -> Call:
    return Call("open_nodes", {"names": list(names)})


READ = Call("read_graph")


# -- rules ---------------------------------------------------------------------------------------


def _composed_names(call: Call, _: Graph) -> Call:
    """The same call with every entity name in its composed form."""
    named = {"entities": ("name",), "relations": ("from", "to"), "observations": ("entityName",)}
    named["deletions"] = ("entityName",)
    arguments = dict(call.arguments)
    for key, fields in named.items():
        if key in arguments:
            arguments[key] = [
                {k: nfc(cast("str", v)) if k in fields else v for k, v in item.items()} for item in call.items(key)
            ]
    for key in ("names", "entityNames"):
        if key in arguments:
            arguments[key] = [nfc(name) for name in call.strings(key)]
    return Call(call.tool, arguments)


def _blank(call: Call) -> bool:
    """Whether the call would store something under a blank name."""
    match call.tool:
        case "create_entities":
            return any(not cast("str", item["name"]).strip() for item in call.items("entities"))
        case "create_relations":
            return any(not part.strip() for triple in call.triples() for part in triple)
        case "add_observations":
            return any(not cast("str", item["entityName"]).strip() for item in call.items("observations"))
        case _:
            return False


def _refuse_blank(call: Call, _: Graph) -> Call:
    return READ if _blank(call) else call


def _refused_blank(case: Case) -> Case:
    return replace(case, outcome=Outcome(is_error=True)) if _blank(case.call) else case


def _merged_items(call: Call, _: Graph) -> Call:
    """One item a name, its texts once each; the first type holds."""
    if call.tool != "create_entities":
        return call
    merged: dict[str, Node] = {}
    for item in call.items("entities"):
        name, texts = cast("str", item["name"]), tuple(cast("list[str]", item["observations"]))
        before = merged.get(name, Node(name, cast("str", item["entityType"])))
        merged[name] = replace(before, observations=tuple(dict.fromkeys((*before.observations, *texts))))
    return Call(call.tool, {"entities": [node.as_json() for node in merged.values()]})


def _merge_existing(case: Case) -> Case:
    """An existing entity takes the new texts and the given type, and is part of the reply, whole."""
    if case.call.tool != "create_entities" or case.outcome.is_error:
        return case
    given = {node.name: node for node in _nodes(_merged_items(case.call, case.before).items("entities"))}
    if not any(name in given for name in case.before.names):
        return case

    def merged(node: Node) -> Node:
        new = given.get(node.name)
        if new is None or case.before.node(node.name) is None:
            return node
        return Node(node.name, new.entity_type, tuple(dict.fromkeys((*node.observations, *new.observations))))

    after = replace(case.after, nodes=tuple(merged(node) for node in case.after.nodes))
    whole = tuple(node for name in given if (node := after.node(name)) is not None)
    return replace(case, outcome=Outcome(False, whole), after=after)


def _nodes(items: Iterable[dict[str, Json]]) -> list[Node]:
    return [
        Node(cast("str", i["name"]), cast("str", i["entityType"]), tuple(cast("list[str]", i["observations"])))
        for i in items
    ]


def _known_ends(call: Call, before: Graph) -> Call:
    if call.tool != "create_relations":
        return call
    known = set(before.names)
    return relate(*(t for t in call.triples() if t[0] in known and t[2] in known))


def _no_known_end(case: Case) -> Case:
    """A call of which nothing could be done because of unknown ends is an error."""
    if case.call.tool != "create_relations" or not case.call.triples() or _blank(case.call):
        return case
    known = set(case.before.names)
    all_unknown = not any(t[0] in known and t[2] in known for t in case.call.triples())
    return replace(case, outcome=Outcome(is_error=True)) if all_unknown else case


def _once(call: Call, _: Graph) -> Call:
    return relate(*dict.fromkeys(call.triples())) if call.tool == "create_relations" else call


def _with_inverses(call: Call, _: Graph) -> Call:
    """Each `contiene` and `parte_de` followed by its inverse."""
    if call.tool not in ("create_relations", "delete_relations"):
        return call
    both: dict[Triple, None] = {}
    for subject, predicate, other in call.triples():
        both[(subject, predicate, other)] = None
        if predicate in INVERSES:
            both.setdefault((other, INVERSES[predicate], subject))
    return relate(*both) if call.tool == "create_relations" else unrelate(*both)


def _asked_only(case: Case) -> Case:
    """The reply names the relations that were asked for, not their inverses, and none twice over."""
    if case.call.tool != "create_relations" or case.outcome.is_error:
        return case
    if not any(predicate in INVERSES for _, predicate, _ in case.call.triples()):
        return case
    there = set(case.before.triples)
    made: list[Triple] = []
    for subject, predicate, other in case.call.triples():
        triple = (subject, predicate, other)
        if triple not in there and triple in case.after.triples:
            made.append(triple)
            there.add(triple)
            if predicate in INVERSES:
                there.add((other, INVERSES[predicate], subject))
    return replace(case, outcome=Outcome(False, tuple(made)))


def _texts_once(call: Call, _: Graph) -> Call:
    if call.tool != "add_observations":
        return call
    return observe(
        *(
            (cast("str", item["entityName"]), list(dict.fromkeys(cast("list[str]", item["contents"]))))
            for item in call.items("observations")
        )
    )


def _missing_of(case: Case) -> bool:
    """Whether a deletion names something that is not there."""
    call, before = case.call, case.before
    match call.tool:
        case "delete_entities":
            return any(name not in before.names for name in call.strings("entityNames"))
        case "delete_relations":
            return any(triple not in before.triples for triple in call.triples())
        case _:
            return _missing_text(call, before)


def _missing_text(call: Call, before: Graph) -> bool:
    left = {node.name: set(node.observations) for node in before.nodes}
    for item in call.items("deletions"):
        texts = left.get(cast("str", item["entityName"]))
        asked = set(cast("list[str]", item["observations"]))
        if texts is None or not asked <= texts:
            return True
        texts -= asked
    return False


COUNTED = "<a message with counts and names>"


def _counted(case: Case) -> Case:
    if case.call.tool.startswith("delete_") and not case.outcome.is_error and _missing_of(case):
        return replace(case, outcome=Outcome(False, (COUNTED,)))
    return case


def _request_order(case: Case) -> Case:
    if case.call.tool != "open_nodes":
        return case
    nodes = [n for name in dict.fromkeys(case.call.strings("names")) if (n := case.before.node(name)) is not None]
    relations = tuple(item for item in case.outcome.answer if not isinstance(item, Node))
    return replace(case, outcome=Outcome(False, (*nodes, *relations)))


def _folded_hits(case: Case) -> Case:
    """Hits that full case folding and composition find and `toLowerCase` does not, or the other way round."""
    if case.call.tool != "search_nodes":
        return case
    query = cast("str", case.call.arguments["query"])
    texts = [query, *(t for n in case.before.nodes for t in (n.name, n.entity_type, *n.observations))]
    if all(text.lower() == fold(text) for text in texts):
        return case
    needle = fold(query)
    hits = tuple(
        n for n in case.before.nodes if any(needle in fold(t) for t in (n.name, n.entity_type, *n.observations))
    )
    names = {node.name for node in hits}
    relations = tuple(t for t in case.before.triples if t[0] in names or t[2] in names)
    return replace(case, outcome=Outcome(False, (*hits, *relations)))


_ANA = create(("Ana", "persona", ["vive en Gijón"]))
_PAIR = create(("Ana", "persona", []), ("Faro", "lugar", []))

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "entity names in composed and decomposed Unicode",
        "two different entities",
        "one entity: names are compared and shown in their composed form (NFC)",
        "the two look the same on every screen",
        (create(("Cafe\u0301", "lugar", [])),),
        restates=True,
        rewrite=_composed_names,
    ),
    Difference(
        "blank names and relation types",
        "stored",
        "the call is refused, naming the field; nothing is stored",
        "nothing could ever ask for them again",
        (create((" ", "persona", [])),),
        rewrite=_refuse_blank,
        expect=_refused_blank,
    ),
    Difference(
        "`create_entities` with a name or a text twice in one call",
        "stored twice",
        "one entity with each text once; the first type holds",
        "later calls would reach only one of the copies",
        (create(("Ana", "persona", ["a", "a"]), ("Ana", "persona", ["b"])),),
        rewrite=_merged_items,
    ),
    Difference(
        "`create_entities` with the name of an existing entity",
        "ignored: its texts are lost and the reply leaves it out",
        "new texts are added, the given type holds, and the reply has the whole entity",
        "what an agent says is kept; `created` and `updated` in the reply tell the two apart",
        (_ANA, create(("Ana", "vecina", ["toca el violín"]))),
        expect=_merge_existing,
    ),
    Difference(
        "`create_relations` with an end that does not exist",
        "stored as a dangling relation",
        "not stored: its element of the reply and `errors` say `Entity not found: X`; the others are made; "
        "an error when none could be",
        "a dangling relation leads nowhere and is mostly a typing error",
        (_ANA, relate(("Ana", "vive_en", "Faro"))),
        rewrite=_known_ends,
        expect=_no_known_end,
    ),
    Difference(
        "`create_relations` with a relation twice in one call",
        "stored twice",
        "stored once; the second element of the reply says `Relation already exists`",
        "later calls would reach only one of the copies",
        (_PAIR, relate(("Ana", "vive_en", "Faro"), ("Ana", "vive_en", "Faro"))),
        rewrite=_once,
    ),
    Difference(
        "`create_relations` and `delete_relations` with `contiene` or `parte_de`",
        "one relation like any other",
        "the inverse is made and deleted with it",
        "the two say the same thing from both ends",
        (_PAIR, relate(("Faro", "contiene", "Ana"))),
        rewrite=_with_inverses,
        expect=_asked_only,
    ),
    Difference(
        "`add_observations` with a text twice in one item",
        "stored twice",
        "stored once",
        "a deletion would take both, an agent sees noise",
        (_ANA, observe(("Ana", ["azul", "azul"]))),
        rewrite=_texts_once,
    ),
    Difference(
        "`delete_*` of something that is not there",
        "the message says that it was deleted",
        "`success` is still true; the message counts what was deleted and names what was not found",
        "a misspelt name must not look like a deletion",
        (delete("Nadie"),),
        expect=_counted,
    ),
    Difference(
        "order of entities in `open_nodes`",
        "order of insertion",
        "order of the request, each once",
        "the caller finds them where it asked for them",
        (_PAIR, open_("Faro", "Ana")),
        expect=_request_order,
    ),
    Difference(
        "letter case in `search_nodes`",
        "`toLowerCase`: `STRASSE` does not find `straße`, a decomposed `é` does not find a composed one",
        "full Unicode case folding of the composed text",
        "what looks the same apart from case is found",
        (create(("Königstraße", "calle", [])), search("KÖNIGSTRASSE")),
        expect=_folded_hits,
    ),
    Difference(
        "arguments and item keys that the tool does not know",
        "dropped without a word",
        "the call is refused and lists the valid names",
        "a misspelt key must not pass as success",
        (
            Call(
                "create_entities",
                {"entities": [{"name": "Ana", "entityType": "p", "observations": [], "observation": ["x"]}]},
            ),
        ),
    ),
    Difference(
        "`entityType` and `observations` left out in `create_entities`",
        "refused",
        "`Generic` and none; an existing entity keeps its type",
        "the call is clear without them",
        (Call("create_entities", {"entities": [{"name": "Ana"}]}),),
    ),
    Difference(
        "a list that arrives as a JSON string, `null` for an optional argument",
        "refused",
        "read as the list; `null` is the same as leaving it out",
        "several clients send them so",
        (Call("open_nodes", {"names": '["Ana"]'}),),
    ),
    Difference(
        "texts with a NUL character or half a surrogate pair",
        "stored, the half pair as U+FFFD",
        "the call is refused, naming the field",
        "they cannot be stored, searched and shown without damage",
        (create(("Ana", "persona", ["a\0b"])),),
    ),
    Difference(
        "very large calls",
        "no limit",
        "at most 10,000 items in a call, 100,000 characters in an observation, 4,000 in a query, 500 in a name, "
        "128 in a type or relation type",
        "one call must not stop everybody else's; the limits are settings",
        (create(("x" * 501, "persona", [])),),
    ),
    Difference(
        "text block of a reply",
        "indented JSON: an array for `create_*` and `add_observations`, a sentence for `delete_*`",
        'the same JSON object as the structured content; a failed call is `{"error": "…"}`',
        "clients that read only the text see everything",
        proof="tests/differential/test_official.py::test_the_text_block_is_the_structured_content",
    ),
    Difference(
        "several calls at once, several servers on one store",
        "calls overwrite each other's changes",
        "every acknowledged change stays",
        "clients start one server each and send calls in parallel",
        proof="tests/process/test_concurrency.py::test_four_servers_on_an_empty_store_keep_every_entity",
    ),
    Difference(
        "a memory file with broken lines",
        "every call fails",
        "good lines are imported, bad ones are reported with their number",
        "one broken line must not hide everything else",
        proof="tests/process/test_import.py::test_broken_lines_of_a_memory_file_are_counted_and_named",
    ),
    Difference(
        "`MEMORY_FILE_PATH`",
        "the store itself; a relative path is looked up in the package's own folder",
        "imported and never written; a relative path is against the current folder",
        "the package's folder is replaced with every update",
        proof="tests/process/test_import.py::test_a_relative_memory_file_is_looked_up_in_the_current_folder",
    ),
)
