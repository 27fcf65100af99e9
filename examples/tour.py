"""A tour of Evoca, as an agent would use it: real server, real client, a temporary store. Run by `make run`.

Starts `evoca mcp`, connects the official MCP client over stdio, imports `examples/memory.jsonl`, writes, searches,
corrects and forgets, and tells what came back. Every step checks its answer; the exit code is 0 only if all held.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeAlias, cast

import anyio
from clients import snippets
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

Json: TypeAlias = Mapping[str, object]

HERE = Path(__file__).resolve().parent
MEMORY = HERE / "memory.jsonl"
WIDTH = min(shutil.get_terminal_size().columns, 100)
PATIENCE = 180.0
"""Seconds for the vectors of the example memory; a slow machine needs about 20."""

QUESTIONS = (
    ("¿quién cuida de las copias nocturnas?", "Backup routine", "Spanish question, English memory"),
    ("what frightens the dog?", "Canela", "English question, Spanish memory"),
    ("¿qué pasa con el número de una factura anulada?", "Invoice numbering", "Spanish question, English memory"),
    ("who cannot eat shrimp?", "Lucía Ferrán", "English question, Spanish memory"),
)


class Surprise(Exception):
    """Something did not come back as it must."""


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Surprise(otherwise)


# -- telling ----------------------------------------------------------------------------------------

_BOLD, _DIM, _PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def chapter(title: str) -> None:
    print(f"\n{_BOLD}{title}{_PLAIN}")


def tell(text: str) -> None:
    print(textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "))


def show(name: str, remark: str, texts: Sequence[str] = ()) -> None:
    """An entity and what is known of it."""
    print(f"    {_BOLD}{name}{_PLAIN}  {_DIM}{remark}{_PLAIN}")
    for text in texts:
        print(textwrap.fill(text, WIDTH, initial_indent="      - ", subsequent_indent="        "))


# -- asking -----------------------------------------------------------------------------------------


def entries(answer: Json, key: str) -> list[Json]:
    return cast("list[Json]", answer[key])


def texts(entity: Json) -> list[str]:
    return cast("list[str]", entity["observations"])


@dataclass(frozen=True, slots=True)
class Memory:
    """The tools of the server, as the agent calls them."""

    client: Client

    async def call(self, tool: str, **arguments: object) -> Json:
        """The tool's structured answer. Raises Surprise when it is an error."""
        result = await self.client.call_tool(tool, arguments)
        said = " ".join(block.text for block in result.content if isinstance(block, TextContent))
        expect(not result.is_error, f"{tool} failed: {said}")
        expect(isinstance(result.structured_content, Mapping), f"{tool} gave no structured answer")
        return cast("Json", result.structured_content)

    async def ask(self, question: str, limit: int = 3) -> list[Json]:
        return entries(
            await self.call("search_semantic", query=question, limit=limit, track=False, explain=True), "results"
        )


async def move_in(memory: Memory) -> None:
    chapter("1. The example memory moves in")
    first = await memory.call("migrate", source_path=str(MEMORY))
    tell(
        f"{first['entities_imported']} entities and {first['relations_imported']} relations imported from "
        f"{MEMORY.name}, {first['skipped']} lines skipped: the boatyard of Puerto Almendro, half in Spanish, "
        "half in English."
    )
    expect(first["skipped"] == 0 and first["errors"] == 0, f"lines of {MEMORY} could not be used: {first['details']}")
    again = await memory.call("migrate", source_path=str(MEMORY))
    tell(f"Imported once more: {again['entities_imported']} new, {again['unchanged']} unchanged.")
    expect(again["entities_imported"] == again["relations_imported"] == 0, "the second import changed something")


async def take_notes(memory: Memory) -> None:
    chapter("2. The agent takes notes")
    storm = {
        "name": "Autumn storm",
        "entityType": "event",
        "observations": ["Came in on the night of 2 October with gusts of 118 km/h", "The small crane was bent"],
    }
    made = await memory.call("create_entities", entities=[storm])
    expect(made["created"] == ["Autumn storm"], "the new entity was not made")
    relations = [
        {"from": "Autumn storm", "to": "Muelle viejo", "relationType": "damaged"},
        {"from": "Iria Castelo", "to": "Autumn storm", "relationType": "photographed"},
    ]
    related = await memory.call("create_relations", relations=relations)
    expect("errors" not in related, "a relation was not made")
    added = await memory.call(
        "add_observations", name="Muelle viejo", observations=["La grúa pequeña está fuera de servicio hasta diciembre"]
    )
    pier = cast("Json", added["entity"])
    tell("A new entity, two relations to what was there, and a note on the old pier, which now reads:")
    show("Muelle viejo", str(pier["entityType"]), texts(pier))
    expect(len(texts(pier)) == 3, "the note is not there")


async def find_words(memory: Memory) -> None:
    chapter("3. Found by a piece of text, in any case")
    found = await memory.call("search_nodes", query="GRÚA PEQUEÑA")
    names = [str(entity["name"]) for entity in entries(found, "entities")]
    tell(f"search_nodes GRÚA PEQUEÑA finds {', '.join(names)}, with the relations around it:")
    for relation in entries(found, "relations"):
        print(f"    {relation['from']} {_DIM}{relation['relationType']}{_PLAIN} {relation['to']}")
    expect(names == ["Muelle viejo"], "the wrong entities were found")


async def wait_for_meaning(memory: Memory) -> None:
    """Until every entity can be found by meaning: the server embeds new texts in the background."""
    tell("The model reads the new texts in the background, with pauses so that the machine stays quiet. Waiting ...")
    begun = time.monotonic()
    while any(hit["distance"] is None for hit in await memory.ask("barco", limit=200)):
        expect(time.monotonic() - begun < PATIENCE, f"the texts were not embedded within {PATIENCE:.0f} s")
        await anyio.sleep(0.5)
    tell(f"Done after another {time.monotonic() - begun:.0f} s. New texts are found by their words in the meantime.")
    print()


async def find_meaning(memory: Memory) -> None:
    chapter("4. Found by what it means, across languages")
    await wait_for_meaning(memory)
    for question, answer, remark in QUESTIONS:
        hits = await memory.ask(question)
        tell(f"{question}  {_DIM}({remark}){_PLAIN}")
        best = hits[0]
        passage = cast("Json", best["explain"])["best_text"]
        show(str(best["name"]), f"{best['entityType']}, score {best['limbic_score']}", [str(passage)])
        found = [str(hit["name"]) for hit in hits]
        expect(answer in found, f"{answer} is not among the first three: {', '.join(found)}")


async def correct(memory: Memory) -> None:
    chapter("5. Corrected, with its history")
    project, old = "Restauración del Alondra", "Entrega prometida para el 5 de septiembre"
    opened = await memory.call("open_nodes", names=[project], details=True)
    details = cast("list[Json]", entries(opened, "entities")[0]["observation_details"])
    number = next(detail["id"] for detail in details if detail["content"] == old)
    new = "Entrega aplazada al 19 de septiembre por el retraso del roble"
    await memory.call("add_observations", name=project, observations=[new], supersedes=number)
    now = texts(entries(await memory.call("open_nodes", names=[project]), "entities")[0])
    expect(new in now and old not in now, "the old text is still current")
    tell("What is current:")
    show(project, "proyecto", now)
    past = await memory.call("open_nodes", names=[project], details=True, include_superseded=True)
    kept = cast("list[Json]", entries(past, "entities")[0]["observation_details"])
    gone = next(detail for detail in kept if detail["content"] == old)
    tell(
        f"And still on record: \N{LEFT DOUBLE QUOTATION MARK}{old}\N{RIGHT DOUBLE QUOTATION MARK}, "
        f"until {gone['superseded_at']}."
    )
    expect(gone["superseded_at"] is not None, "the old text is not marked as replaced")


async def forget(memory: Memory) -> None:
    chapter("6. Forgotten")
    removed = await memory.call("delete_entities", entityNames=["Petrel"])
    expect(removed["deleted"] == ["Petrel"], "the entity was not deleted")
    found = await memory.call("search_nodes", query="Hempel")
    expect(found["entities"] == [], "a deleted text is still found")
    graph = await memory.call("read_graph", limit=1)
    tell(f"Petrel is gone, and so is every text of it. {graph['total']} entities remain.")


# -- all of it --------------------------------------------------------------------------------------


def program() -> str:
    """The absolute path of `evoca` in the environment that runs this file."""
    path = Path(sys.executable).with_name("evoca")
    expect(path.exists(), f"{path} does not exist; run: make install")
    return str(path)


async def tour(store: Path, errlog: TextIO) -> None:
    begun = time.monotonic()
    server = StdioServerParameters(command=program(), args=["mcp", "--store", str(store)])
    async with Client(stdio_client(server, errlog=errlog)) as client:
        tools = await client.list_tools()
        started = time.monotonic() - begun
        info = client.server_info
        tell(
            f"{f'{info.name} {info.version}' if info else 'The server'} answers over MCP {client.protocol_version} "
            f"with {len(tools.tools)} tools after {started:.1f} s. Its store is a temporary file."
        )
        memory = Memory(client)
        for step in (move_in, take_notes, find_words, find_meaning, correct, forget):
            await step(memory)


def tell_how_to_connect() -> None:
    chapter("Your turn: tell your client")
    for snippet in snippets(program()):
        print(f"\n  {_BOLD}{snippet.client}{_PLAIN}  {_DIM}{snippet.place}{_PLAIN}")
        print(textwrap.indent(snippet.text, "    "))
    print()
    tell(
        "The memory is then kept in your own data folder; the first line on stderr says where. "
        "A file of the official server moves in by itself: set MEMORY_FILE_PATH to it."
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors themselves, out of the groups that task groups wrap them in."""
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _causes(each)
    else:
        yield error


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="evoca-tour-") as name:
        folder = Path(name)
        said = folder / "stderr.txt"
        try:
            with said.open("w", encoding="utf-8") as errlog:
                anyio.run(tour, folder / "memory.db", errlog)
        except Exception as error:  # noqa: BLE001 - the outermost place: any failure is told and gives exit code 1
            reasons = "; ".join(re.sub(r"\s+", " ", str(cause)) or repr(cause) for cause in _causes(error))
            print(
                f"\nThe tour failed: {reasons}\nThe server said:\n{said.read_text(encoding='utf-8')}", file=sys.stderr
            )
            return 1
        size = sum(path.stat().st_size for path in folder.glob("memory.db*"))
        tell(f"The whole memory took {size / 1024:.0f} KB on disk; it is deleted again now.")
    tell_how_to_connect()
    return 0


if __name__ == "__main__":
    sys.exit(main())
