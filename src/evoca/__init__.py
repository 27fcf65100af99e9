"""Evoca: a memory server for AI agents.

from evoca import Memory

with Memory("memory.db") as memory:
    memory.create_entities([{"name": "Ada", "entityType": "Person", "observations": ["Writes programs"]}])
    memory.search_semantic("who can program?")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evoca.async_memory import AsyncMemory
    from evoca.errors import EvocaError
    from evoca.memory import Memory

__version__ = "0.1.0"
__all__ = ["AsyncMemory", "EvocaError", "Memory", "__version__"]


def __getattr__(name: str) -> object:
    # Loaded at first use: the command line and the server must start without them.
    if name == "AsyncMemory":
        from evoca.async_memory import AsyncMemory

        return AsyncMemory
    if name == "Memory":
        from evoca.memory import Memory

        return Memory
    if name == "EvocaError":
        from evoca.errors import EvocaError

        return EvocaError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
