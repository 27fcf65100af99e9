"""Short ways to say what the tests do to a graph, and to look at what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from tests.process.support.client import Json, JsonObject, Reply, Server


def entity(name: str, *observations: str, kind: str = "prueba") -> dict[str, Json]:
    return {"name": name, "entityType": kind, "observations": list(observations)}


def entities(*items: JsonObject) -> dict[str, Json]:
    """The arguments of `create_entities`."""
    return {"entities": list(items)}


def triple(subject: str, predicate: str, other: str) -> dict[str, Json]:
    return {"from": subject, "to": other, "relationType": predicate}


def relations(*items: JsonObject) -> dict[str, Json]:
    """The arguments of `create_relations` and `delete_relations`."""
    return {"relations": list(items)}


def additions(*items: tuple[str, Sequence[str]]) -> dict[str, Json]:
    """The arguments of `add_observations` in the official form."""
    return {"observations": [{"entityName": name, "contents": list(contents)} for name, contents in items]}


def clear(server: Server) -> None:
    """Delete every entity, and with them everything else."""
    names = server.ok("read_graph").names()
    if names:
        server.ok("delete_entities", {"entityNames": list(names)})


def snapshot(server: Server) -> tuple[JsonObject, JsonObject]:
    """The whole graph, plain and with every detail of its entities: equal before and after means nothing happened."""
    plain = server.ok("read_graph")
    names: list[Json] = list(plain.names())
    detailed = server.ok("open_nodes", {"names": names, "details": True, "include_superseded": True})
    return plain.data, detailed.data


def names_in(server: Server) -> set[str]:
    return set(server.ok("read_graph").names())


def check_integrity(store: Path) -> None:
    """The database engine finds no damage in the file, and the file can be opened at all."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)
    pragma = cast("Callable[[str], object]", getattr(connection, "pragma"))  # noqa: B009 - its type is only half known
    try:
        assert pragma("integrity_check") == "ok"
        assert pragma("foreign_key_check") is None
    finally:
        connection.close()


def refused(reply: Reply, *fragments: str) -> str:
    """The sentence of a call that must fail; fails unless it is readable and has each of the fragments."""
    assert reply.is_error, f"accepted: {reply.text[:500]}"
    sentence = reply.complaint
    assert sentence.strip()
    for leak in ("Traceback", 'File "', "apsw", "pydantic.dev"):
        assert leak not in reply.text, reply.text[:2000]
    for fragment in fragments:
        assert fragment in sentence, f"{fragment!r} is not in {sentence[:2000]!r}"
    return sentence


def all_replies(calls: Iterable[tuple[Server, str, JsonObject]]) -> list[Reply]:
    """Post every call before the first answer is waited for."""
    pending = [server.post(tool, arguments) for server, tool, arguments in calls]
    return [call.reply() for call in pending]
