"""The catalogue: every operation once, in the order in which tools are listed."""

from __future__ import annotations

from evoca.operations.base import Operation
from evoca.operations.graph import GRAPH_OPERATIONS

CATALOGUE: tuple[Operation, ...] = GRAPH_OPERATIONS
