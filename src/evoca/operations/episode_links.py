"""The graph of memories as tools: links, walks, contradictions (seed 002; contract, Hipocampo 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict

from pydantic import Field, model_validator

from evoca.errors import InvalidInput
from evoca.operations.base import Hints, Id, Input, Operation, TypeName, operation
from evoca.operations.episode_results import LinkJson, excerpt, link_json

if TYPE_CHECKING:
    from evoca.domain.episodes import EpisodeLink
    from evoca.services import Services
    from evoca.services.episode_links import EpisodeGraph

_SHOWN = 20
"""So many memories are told of in a sentence; the keys have all."""


class LinkHipocampoInput(Input):
    source_id: Id
    target_id: Id
    relation_type: TypeName = Field(
        default="related",
        description="related, follow_up, part_of, references, similar, chain, validates, contradicts, or your own.",
    )
    weight: Annotated[float, Field(ge=0, le=1)] = 1.0


class UnlinkHipocampoInput(Input):
    id: Id | None = Field(default=None, description="The link's.")
    source_id: Id | None = Field(default=None, description="Or by its ends.")
    target_id: Id | None = None
    relation_type: TypeName | None = Field(default=None, description="Omitted: all between the ends.")

    @model_validator(mode="after")
    def _one_way(self) -> UnlinkHipocampoInput:
        ends = self.source_id is not None and self.target_id is not None
        some = any(each is not None for each in (self.source_id, self.target_id, self.relation_type))
        if (self.id is None) != ends or (self.id is not None and some):
            raise InvalidInput("❌ Debes proveer id, o source_id + target_id.", field="id")
        return self


class GraphHipocampoInput(Input):
    node_id: Id | None = Field(default=None, description="Omitted: an overview of the most linked memories.")
    depth: Annotated[int, Field(ge=1, le=5)] = 2
    max_nodes: Annotated[int, Field(ge=1, le=500)] = 50


class PathHipocampoInput(Input):
    from_id: Id
    to_id: Id
    max_depth: Annotated[int, Field(ge=1, le=10)] = 5


class ContradiccionesHipocampoInput(Input):
    memory_id: Id


class LinkResult(TypedDict):
    result: str
    status: str
    id: int
    link: LinkJson


class UnlinkResult(TypedDict):
    result: str
    status: str
    removed: list[LinkJson]


class NodeJson(TypedDict):
    id: int
    depth: int


class EdgeJson(TypedDict):
    source_id: int
    target_id: int
    relation_type: str
    weight: float
    effective_weight: float


class MemoryGraphResult(TypedDict):
    """`total_nodes`, `total_edges`: of the whole collection, in an overview."""

    result: str
    status: str
    nodes: list[NodeJson]
    edges: list[EdgeJson]
    truncated: bool
    total_nodes: NotRequired[int]
    total_edges: NotRequired[int]


class PathResult(TypedDict):
    result: str
    status: str
    found: bool
    path: list[int]


class ContradictionJson(TypedDict):
    """`newer`: whether that memory is the newer one of the two."""

    id: int
    confidence: float
    kind: str
    differs_in: list[str]
    newer: bool


class ContradictionsResult(TypedDict):
    result: str
    status: str
    contradictions: list[ContradictionJson]


def _link(services: Services, given: LinkHipocampoInput) -> LinkResult:
    linked = services.episode_links.link(
        services.collection, given.source_id, given.target_id, given.relation_type, given.weight
    )
    link = linked.link
    if linked.made:
        result = (
            f"✅ Enlace #{link.id} creado: [{link.source_id}] --{link.relation_type}--> [{link.target_id}] "
            f"(peso={link.weight:g})"
        )
    else:
        result = f"⚠️ Ya existe un enlace {link.relation_type} entre {link.source_id} y {link.target_id}."
    return {
        "result": result,
        "status": "linked" if linked.made else "exists",
        "id": link.id,
        "link": link_json(link),
    }


def _unlink(services: Services, given: UnlinkHipocampoInput) -> UnlinkResult:
    removed: tuple[EpisodeLink, ...]
    if given.id is not None:
        removed = services.episode_links.unlink(services.collection, given.id)
        result = f"✅ Enlace #{given.id} eliminado."
    else:
        assert given.source_id is not None  # noqa: S101 - checked by the input
        assert given.target_id is not None  # noqa: S101
        removed = services.episode_links.unlink_ends(
            services.collection, given.source_id, given.target_id, given.relation_type
        )
        result = f"✅ {len(removed)} enlace(s) eliminado(s): {[link.id for link in removed]}."
    return {"result": result, "status": "unlinked", "removed": [link_json(link) for link in removed]}


def _graph(services: Services, given: GraphHipocampoInput) -> MemoryGraphResult:
    if given.node_id is None:
        graph = services.episode_links.overview(services.collection, given.max_nodes)
        head = f"🕸️ {graph.memories} recuerdos enlazados, {graph.links} enlaces."
    else:
        graph = services.episode_links.graph(services.collection, given.node_id, given.depth, given.max_nodes)
        head = f"🕸️ {len(graph.nodes)} recuerdos y {len(graph.edges)} enlaces desde [{given.node_id}]."
    reply: MemoryGraphResult = {
        "result": "\n".join([head, *_told(graph)]),
        "status": "ok",
        "nodes": [{"id": node.episode.id, "depth": node.depth} for node in graph.nodes],
        "edges": [
            {
                "source_id": edge.link.source_id,
                "target_id": edge.link.target_id,
                "relation_type": edge.link.relation_type,
                "weight": round(edge.link.weight, 4),
                "effective_weight": round(edge.effective, 4),
            }
            for edge in graph.edges
        ],
        "truncated": graph.cut,
    }
    if graph.memories is not None and graph.links is not None:
        reply["total_nodes"] = graph.memories
        reply["total_edges"] = graph.links
    return reply


def _told(graph: EpisodeGraph) -> list[str]:
    """The nearest memories, a line each."""
    return [f"{'  ' * node.depth}[{node.episode.id}] {excerpt(node.episode.content)}" for node in graph.nodes[:_SHOWN]]


def _path(services: Services, given: PathHipocampoInput) -> PathResult:
    memories = services.episode_links.path(
        services.collection, given.from_id, given.to_id, given.max_depth, services.track
    )
    if not memories:
        result = f"❌ No se encontró camino entre [{given.from_id}] y [{given.to_id}] (hasta depth={given.max_depth})."
        return {"result": result, "status": "ok", "found": False, "path": []}
    told = " → ".join(f"[{each.id}] {excerpt(each.content, 40)}" for each in memories)
    return {"result": f"✅ {told}", "status": "ok", "found": True, "path": [each.id for each in memories]}


def _contradictions(services: Services, given: ContradiccionesHipocampoInput) -> ContradictionsResult:
    found = services.episode_links.contradictions(services.collection, given.memory_id)
    if found:
        told = "; ".join(
            f"#{each.episode.id} ({each.confidence:.2f}) {excerpt(each.episode.content, 60)}" for each in found[:_SHOWN]
        )
        result = f"⚠️ {len(found)} contradicciones de la memoria #{given.memory_id}: {told}"
    else:
        result = f"✅ Sin contradicciones detectadas para memoria #{given.memory_id}."
    return {
        "result": result,
        "status": "ok",
        "contradictions": [
            {
                "id": each.episode.id,
                "confidence": round(each.confidence, 4),
                "kind": each.kind,
                "differs_in": list(each.differs_in),
                "newer": each.newer,
            }
            for each in found
        ],
    }


_READS = Hints(read_only=True, destructive=False, idempotent=True)

EPISODE_LINK_OPERATIONS: tuple[Operation, ...] = (
    operation(
        _link,
        input=LinkHipocampoInput,
        result=LinkResult,
        name="link_hipocampo",
        title="Link Memories",
        doc="Join two memories by a directed, typed link. Linked memories are not forgotten by decay_hipocampo.",
        toolset="hipocampo",
        hints=Hints(read_only=False, destructive=False, idempotent=True),
    ),
    operation(
        _unlink,
        input=UnlinkHipocampoInput,
        result=UnlinkResult,
        name="unlink_hipocampo",
        title="Unlink Memories",
        doc="Remove a link between memories: by its id, or all from source_id to target_id (of one relation_type).",
        toolset="hipocampo",
        hints=Hints(read_only=False, destructive=True, idempotent=True),
    ),
    operation(
        _graph,
        input=GraphHipocampoInput,
        result=MemoryGraphResult,
        name="graph_hipocampo",
        title="Graph of Memories",
        doc=(
            "The memories around one, links followed both ways; effective_weight halves every 90 days without use. "
            "Without node_id the most linked memories of all."
        ),
        toolset="hipocampo",
        hints=_READS,
    ),
    operation(
        _path,
        input=PathHipocampoInput,
        result=PathResult,
        name="path_hipocampo",
        title="Path between Memories",
        doc="A shortest path of links between two memories, in either direction of the links.",
        toolset="hipocampo",
        hints=_READS,
    ),
    operation(
        _contradictions,
        input=ContradiccionesHipocampoInput,
        result=ContradictionsResult,
        name="contradicciones_hipocampo",
        title="Contradictions of a Memory",
        doc=(
            "What contradicts a memory (in its session scope and among session-less ones), with confidence, what "
            "differs, and which is newer. Only what is sure is told."
        ),
        toolset="hipocampo",
        hints=_READS,
    ),
)
