"""A server with a catalogue of its own and no store: what the MCP surface does is seen through it alone.

`python -m tests.surfaces.toy FOLDER`: the graph is `FOLDER/graph`, one name a line; its size is its version.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, cast

from evoca.domain.tenancy import LOCAL, Caller
from evoca.errors import StoreBusy
from evoca.operations.base import Hints, Input, Operation, Text, Toolset, operation
from evoca.settings import Limits
from evoca.storage.contract import Cancelled, cancellation

if TYPE_CHECKING:
    from evoca.services import Services

READ = Hints(read_only=True, destructive=False, idempotent=True)
WRITE = Hints(read_only=False, destructive=False, idempotent=False)
POLL = 0.005


class Nothing(Input):
    pass


class TextInput(Input):
    text: Text


class SizeInput(Input):
    size: int


class TextResult(TypedDict):
    text: str


class NamesResult(TypedDict):
    names: list[str]


InputT = TypeVar("InputT", bound=Input)
ResultT = TypeVar("ResultT", bound=Mapping[str, object])


def _tool(
    name: str,
    hints: Hints,
    run: Callable[[InputT], ResultT],
    given: type[InputT],
    result: type[ResultT],
    toolset: Toolset = "graph",
    aliases: tuple[str, ...] = (),
    listed: bool = True,
) -> Operation:
    return operation(
        lambda _services, arguments: run(arguments),
        input=given,
        result=result,
        name=name,
        title=name.capitalize(),
        doc=f"What {name} does.",
        toolset=toolset,
        hints=hints,
        aliases=aliases,
        listed=listed,
    )


class Toy:
    """The runtime's shape over a folder."""

    def __init__(self, folder: Path) -> None:
        self.limits = Limits()
        self.caller = LOCAL
        self.catalogue: tuple[Operation, ...] = (
            _tool("echo", READ, lambda given: {"text": given.text}, TextInput, TextResult, aliases=("repeat",)),
            _tool("big", READ, lambda given: {"text": "ñ" * given.size}, SizeInput, TextResult),
            _tool("save", WRITE, self._save, TextInput, TextResult),
            _tool("hold", WRITE, self._hold, TextInput, TextResult),
            _tool("hang", WRITE, self._hang, Nothing, TextResult),
            _tool("shout", READ, self._shout, TextInput, TextResult),
            _tool("explode", READ, self._explode, TextInput, TextResult),
            _tool("busy", WRITE, self._busy, Nothing, TextResult),
            _tool("unlisted", READ, lambda _given: {"text": "here"}, Nothing, TextResult, listed=False),
            _tool("read_graph", READ, lambda _given: {"names": self._names()}, Nothing, NamesResult),
        )
        self._folder = folder
        self._graph = folder / "graph"
        self._lock = threading.Lock()
        self._graph.touch()

    def call(self, operation: Operation, raw: Mapping[str, object], caller: Caller = LOCAL) -> Mapping[str, object]:
        self.caller = caller
        return operation.call(cast("Services", self), raw)

    def within(self, _code: str | None) -> Toy:
        return self

    def authenticate(self, secret: str) -> Caller | None:
        return LOCAL if secret.startswith("known") else None

    def keys_in_place(self) -> bool:
        return False

    def graph_version(self, caller: Caller = LOCAL) -> int:
        assert caller.sees(1)
        return self._graph.stat().st_size

    def close(self) -> None:
        (self._folder / "closed").touch()

    def _names(self) -> list[str]:
        return self._graph.read_text("utf-8").split()

    def _save(self, given: TextInput) -> TextResult:
        with self._lock, self._graph.open("a", encoding="utf-8") as graph:
            graph.write(given.text + "\n")
        return {"text": given.text}

    def _hold(self, given: TextInput) -> TextResult:
        """Save when the file `release` is there, unless the caller gives up before."""
        token = cancellation.get()
        assert token is not None
        (self._folder / f"holding-{given.text}").touch()
        while not (self._folder / "release").exists():
            if token.cancelled:
                (self._folder / f"dropped-{given.text}").touch()
                raise Cancelled
            threading.Event().wait(POLL)
        return self._save(given)

    def _hang(self, _given: Nothing) -> TextResult:
        """Never end and hear nothing."""
        (self._folder / "hanging").touch()
        threading.Event().wait()
        return {"text": ""}

    def _shout(self, given: TextInput) -> TextResult:
        """Write to stdout in every way there is."""
        print(given.text, flush=True)  # noqa: T201
        os.write(1, given.text.encode())
        subprocess.run([sys.executable, "-c", f"print({given.text!r})"], check=True)
        return {"text": sys.stdin.read()}

    def _explode(self, given: TextInput) -> TextResult:
        raise RuntimeError(f"secret {given.text}")

    def _busy(self, _given: Nothing) -> TextResult:
        raise StoreBusy("The store is busy.", "Try again.")


def main() -> None:
    # Imported here, so that the module can be imported for its catalogue alone.
    from evoca.logs import configure
    from evoca.surfaces.mcp.stdio import serve

    configure("info", "json")
    serve(Toy(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
