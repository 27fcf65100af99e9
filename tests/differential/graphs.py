"""The official server's world as values: graphs, calls and what a call came back with."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from tests.process.support.client import strings_at, text_at

if TYPE_CHECKING:
    from tests.process.support.client import Json, JsonObject, Reply

Triple = tuple[str, str, str]
"""(from, relationType, to)"""


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    entity_type: str
    observations: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        return {"name": self.name, "entityType": self.entity_type, "observations": list(self.observations)}


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and relations, both in order of insertion."""

    nodes: tuple[Node, ...] = ()
    triples: tuple[Triple, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)

    def node(self, name: str) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)

    def as_jsonl(self) -> str:
        """The official server's memory file."""
        lines = [json.dumps({"type": "entity", **node.as_json()}, ensure_ascii=False) for node in self.nodes]
        lines += [json.dumps({"type": "relation", **triple_json(t)}, ensure_ascii=False) for t in self.triples]
        return "\n".join(lines)


def triple_json(triple: Triple) -> dict[str, Json]:
    return {"from": triple[0], "to": triple[2], "relationType": triple[1]}


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call in the official form."""

    tool: str
    arguments: dict[str, Json] = field(default_factory=dict[str, "Json"])

    def items(self, key: str) -> list[dict[str, Json]]:
        return cast("list[dict[str, Json]]", self.arguments[key])

    def strings(self, key: str) -> list[str]:
        return cast("list[str]", self.arguments[key])

    def triples(self) -> list[Triple]:
        return [
            (text_at(item, "from"), text_at(item, "relationType"), text_at(item, "to"))
            for item in self.items("relations")
        ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply, reduced to what the official server would have said with it.

    `answer` holds the entities, relations or results of the reply, or the message of a deletion.
    """

    is_error: bool
    answer: tuple[Node | Triple | tuple[str, tuple[str, ...]] | str, ...] = ()


def node_of(item: JsonObject) -> Node:
    return Node(text_at(item, "name"), text_at(item, "entityType"), tuple(strings_at(item, "observations")))


def graph_of(reply: Reply) -> Graph:
    assert not reply.is_error, reply.text
    return Graph(tuple(node_of(item) for item in reply.objects("entities")), tuple(reply.triples()))


def outcome_of(call: Call, reply: Reply) -> Outcome:
    """The reply's official keys, and nothing else of it."""
    if reply.is_error:
        # An error repeats a name as it was given, composed or not.
        sentence = unicodedata.normalize("NFC", reply.error)
        return Outcome(is_error=True, answer=(sentence,) if call.tool == "add_observations" else ())
    match call.tool:
        case "create_entities":
            return Outcome(False, tuple(node_of(item) for item in reply.objects("entities")))
        case "create_relations":
            made = [item for item in reply.objects("relations") if "error" not in item]
            return Outcome(
                False,
                tuple((text_at(r, "from"), text_at(r, "relationType"), text_at(r, "to")) for r in made),
            )
        case "add_observations":
            return Outcome(
                False,
                tuple(
                    (text_at(item, "entityName"), tuple(strings_at(item, "addedObservations")))
                    for item in reply.objects("results")
                ),
            )
        case "delete_entities" | "delete_observations" | "delete_relations":
            assert reply.data["success"] is True
            return Outcome(False, (text_at(reply.data, "message"),))
        case _:
            graph = graph_of(reply)
            return Outcome(False, graph.nodes + graph.triples)
