"""The catalogue: every operation once, in the order in which tools are listed."""

from __future__ import annotations

from evoca.operations.base import Operation
from evoca.operations.collections import COLLECTION_OPERATIONS
from evoca.operations.editing import EDITING_OPERATIONS, END_RELATION
from evoca.operations.episode_links import EPISODE_LINK_OPERATIONS
from evoca.operations.episode_upkeep import EPISODE_UPKEEP_OPERATIONS
from evoca.operations.episodes import EPISODE_OPERATIONS
from evoca.operations.facts import FACT_OPERATIONS
from evoca.operations.graph import GRAPH_OPERATIONS
from evoca.operations.reflections import REFLECTION_OPERATIONS
from evoca.operations.upkeep import UPKEEP_OPERATIONS

CATALOGUE: tuple[Operation, ...] = (
    *GRAPH_OPERATIONS,
    *UPKEEP_OPERATIONS,
    END_RELATION,
    *REFLECTION_OPERATIONS,
    *EDITING_OPERATIONS,
    *EPISODE_OPERATIONS,
    *EPISODE_LINK_OPERATIONS,
    *EPISODE_UPKEEP_OPERATIONS,
    *FACT_OPERATIONS,
    *COLLECTION_OPERATIONS,
)
