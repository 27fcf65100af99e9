"""Several servers on one store, killed and started again meanwhile, and clients that know what was acknowledged."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.process.support.client import (
    DEADLINE,
    JsonObject,
    RpcError,
    ServerGone,
    number_at,
    objects_at,
    strings_at,
    text_at,
)
from tests.process.support.http import HttpServer
from tests.process.support.launch import start_evoca

PAUSE = 0.02
RETRYABLE = {"unavailable", "store_busy", "shutting_down"}


@dataclass(frozen=True, slots=True)
class Again:
    """The call may be made again. `undone`: the server promises that nothing was done; else nobody knows."""

    why: str
    undone: bool


class Member(Protocol):
    """One place in the cluster: a server that is there most of the time."""

    @property
    def name(self) -> str: ...
    def attempt(self, operation: str, arguments: JsonObject) -> JsonObject | Again:
        """Call once. Fails on every error that is not retryable."""
        ...

    def kill(self) -> None:
        """SIGKILL."""
        ...

    def start(self) -> None:
        """Returns when it serves."""
        ...

    def close(self) -> None: ...
    def alive(self) -> bool:
        """Whether the process has not ended by itself."""
        ...


class HttpMember:
    """`evoca serve`. Each thread keeps a connection while it lasts."""

    def __init__(self, name: str, home: Path, store: str, env: Mapping[str, str]) -> None:
        self.name = name
        self._home, self._store, self._env = home, store, env
        self._server: HttpServer | None = None
        self._threads = threading.local()
        self._connections: list[http.client.HTTPConnection] = []
        self.logs: list[str] = []

    @property
    def server(self) -> HttpServer:
        assert self._server is not None
        return self._server

    def attempt(self, operation: str, arguments: JsonObject) -> JsonObject | Again:
        server = self._server
        if server is None:
            return Again("not started", undone=True)
        connection = self._connection(server)
        try:
            reply = server.request("POST", f"/v1/{operation}", arguments, over=connection)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return Again(type(error).__name__, undone=isinstance(error, ConnectionRefusedError))
        if reply.status == 200:
            return reply.json
        code = text_at(reply.json, "error", "code")
        assert reply.status == 503, f"{operation} {arguments}: {reply.status} {reply.body!r}"
        assert code in RETRYABLE | {"outcome_unknown"}, f"{operation}: {reply.body!r}"
        assert code == "outcome_unknown" or reply.headers["retry-after"]
        return Again(code, undone=code != "outcome_unknown")

    def _connection(self, server: HttpServer) -> http.client.HTTPConnection:
        kept: dict[str, tuple[int, http.client.HTTPConnection]] = self._threads.__dict__
        port, connection = kept.get(self.name, (0, None))
        if connection is None or port != server.port:
            if connection is not None:
                connection.close()
            connection = server.connection()
            self._connections.append(connection)
            kept[self.name] = (server.port, connection)
        return connection

    def ready(self) -> int:
        """The status of `/readyz`; 0 when there is no answer."""
        server = self._server
        if server is None:
            return 0
        try:
            return server.request("GET", "/readyz").status
        except (OSError, http.client.HTTPException):
            return 0

    def start(self) -> None:
        server = HttpServer(self._home, self._store, env=self._env)
        try:
            server.__enter__()
        except BaseException:
            server.__exit__()
            raise
        self._server = server

    def kill(self) -> None:
        server, self._server = self._server, None
        assert server is not None
        server.process.kill()
        server.__exit__()
        self.logs.append(server.log)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        if self._server is not None:
            self._server.__exit__()

    def alive(self) -> bool:
        return self._server is None or self._server.process.poll() is None


class StdioMember:
    """`evoca mcp`, which one client at a time may start; here all share its pipe."""

    def __init__(self, name: str, home: Path, store: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self._home, self._store, self._env = home, store, env
        self.start()

    def attempt(self, operation: str, arguments: JsonObject) -> JsonObject | Again:
        server = self._server
        try:
            reply = server.call(operation, arguments)
        except (ServerGone, OSError, ValueError) as error:
            return Again(type(error).__name__, undone=False)
        except RpcError as error:
            raise AssertionError(f"{operation}: {error}") from error
        if not reply.is_error:
            return reply.data
        assert "again" in reply.complaint, reply.text
        return Again(reply.complaint, undone=True)

    def start(self) -> None:
        self._server = start_evoca(self._home, self._store, env=self._env)

    def kill(self) -> None:
        self._server.kill()
        self._server.__exit__(None, None, None)

    def close(self) -> None:
        self._server.__exit__(None, None, None)

    def alive(self) -> bool:
        return self._server.process.poll() is None


@dataclass(slots=True)
class Told:
    """A reflection, the one kind of writing here that is made twice when it is told twice. `doubts`: attempts that
    may have been done without being answered."""

    text: str
    doubts: int


@dataclass(slots=True)
class Known:
    """What one client was told is saved."""

    entities: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    deleted: set[str] = field(default_factory=set[str])
    relations: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    memories: dict[int, str] = field(default_factory=dict[int, str])
    facts: dict[str, int] = field(default_factory=dict[str, int])
    homes: list[str] = field(default_factory=list[str])
    reflections: list[Told] = field(default_factory=list[Told])


class Client:
    """Writes and reads at a server picked anew for each attempt, until it is told to stop."""

    def __init__(self, number: int, members: Sequence[Member], patience: float) -> None:
        self.name = f"Cliente {number}"
        self._number = number
        self.known = Known()
        self.calls = 0
        self.again: dict[str, int] = {}
        self.longest = 0.0
        self._doubts = 0
        self._members = members
        self._patience = patience
        self._random = random.Random(number)

    def run(self, stop: threading.Event) -> None:
        self._write("create_entities", {"entities": [{"name": self.name, "entityType": "cliente", "observations": []}]})
        self.known.entities[self.name] = []
        steps = (self._entity, self._observe, self._remember, self._save, self._reflect, self._move, self._delete)
        for number in range(1_000_000):
            self._random.choice(steps)(number)
            self._random.choice((self._open, self._find_memory, self._find_fact, self._walk, self._find_words))()
            if stop.is_set():
                return

    # -- calling ---------------------------------------------------------------------------------

    def _write(self, operation: str, arguments: JsonObject) -> JsonObject:
        """The acknowledgement. The same call is made again as long as the error allows."""
        began = time.monotonic()
        self._doubts = 0
        while True:
            found = self._random.choice(self._members).attempt(operation, arguments)
            self.calls += 1
            waited = time.monotonic() - began
            if not isinstance(found, Again):
                self.longest = max(self.longest, waited)
                return found
            self.again[found.why] = self.again.get(found.why, 0) + 1
            self._doubts += not found.undone
            assert waited < self._patience, f"{operation} was refused for {waited:.0f} s, at last: {found.why}"
            time.sleep(PAUSE)

    _read = _write

    # -- writing ---------------------------------------------------------------------------------

    def _entity(self, number: int) -> None:
        name, seen = f"{self.name} cosa {number}", f"Llegó la caja {number} de {self.name}"
        self._write("create_entities", {"entities": [{"name": name, "entityType": "cosa", "observations": [seen]}]})
        self.known.entities[name] = [seen]
        self._write("create_relations", {"relations": [{"from": self.name, "to": name, "relationType": "guarda"}]})
        self.known.relations.add((self.name, name))

    def _observe(self, number: int) -> None:
        seen = f"Vio {number} grullas en {self.name}"
        self._write("add_observations", {"observations": [{"entityName": self.name, "contents": [seen]}]})
        self.known.entities[self.name].append(seen)

    def _remember(self, number: int) -> None:
        value = f"código {number} de {self.name}"
        told = self._write("remember", {"subject": self.name, "predicate": "sabe", "value": value})
        self.known.facts[value] = _id(told)

    def _save(self, number: int) -> None:
        content = f"El envío e{number}c{self._number} salió del almacén {number + 7} con {number} cajas"
        told = self._write("save_hipocampo", {"content": content})
        assert text_at(told, "status") in {"saved", "duplicate"}, told
        saved = number_at(told, "id" if told["status"] == "saved" else "duplicate_of")
        self.known.memories[int(saved)] = content

    def _reflect(self, number: int) -> None:
        text = f"Reflexión {number}"
        arguments = {"target_type": "entity", "target_name": self.name, "content": text}
        self._write("add_reflection", arguments)
        self.known.reflections.append(Told(text, self._doubts))

    def _move(self, number: int) -> None:
        """`vive_en` has one value at a time."""
        town = f"Pueblo {number} de {self.name}"
        self._write("remember", {"subject": self.name, "predicate": "vive_en", "object": town})
        self.known.homes.append(town)

    def _delete(self, _number: int) -> None:
        mine = [name for name in self.known.entities if name != self.name]
        if not mine:
            return
        name = self._random.choice(mine)
        self._write("delete_entities", {"entityNames": [name]})
        del self.known.entities[name]
        self.known.relations.discard((self.name, name))
        self.known.deleted.add(name)

    # -- reading what was acknowledged, anywhere ---------------------------------------------------

    def _open(self) -> None:
        name = self._random.choice([*self.known.entities, *self.known.deleted])
        found = objects_at(self._read("open_nodes", {"names": [name]}), "entities")
        wanted = self.known.entities.get(name)
        assert [strings_at(each, "observations") for each in found] == ([] if wanted is None else [wanted]), name

    def _find_words(self) -> None:
        name = self._random.choice([*self.known.entities])
        found = self._read("search_nodes", {"query": name})
        assert name in [text_at(each, "name") for each in objects_at(found, "entities")]

    def _find_memory(self) -> None:
        if self.known.memories:
            number, content = self._random.choice([*self.known.memories.items()])
            found = self._read("search_hipocampo", {"query": content.split()[2], "limit": 50})
            assert number in [each["id"] for each in objects_at(found, "memories")], content

    def _find_fact(self) -> None:
        if self.known.facts:
            value, number = self._random.choice([*self.known.facts.items()])
            page = self._read("recall", {"query": self.name, "predicate": "sabe", "limit": 200})
            found = {_id(each): text_at(each, "value") for each in objects_at(page, "facts")}
            assert page["has_more"] or found.get(number) == value, value

    def _walk(self) -> None:
        if self.known.homes:
            found = self._read("find_path", {"from": self.name, "to": self.known.homes[-1]})
            assert found["found"], (self.name, self.known.homes[-1])


def _id(fact: JsonObject) -> int:
    return int(number_at(fact, "id"))


def check(members: Sequence[Member], clients: Sequence[Client], patience: float) -> None:
    """Everything that was acknowledged is there, as it was acknowledged, once, and nothing that was deleted.

    The members take turns at being asked, a client each.
    """
    for place, client in enumerate(clients):
        _check_client(_Asking(members[place % len(members)], patience), client)


@dataclass(frozen=True, slots=True)
class _Asking:
    member: Member
    patience: float

    def __call__(self, operation: str, arguments: JsonObject) -> JsonObject:
        end = time.monotonic() + self.patience
        while isinstance(found := self.member.attempt(operation, arguments), Again):
            assert time.monotonic() < end, found.why
            time.sleep(PAUSE)
        return found


def _check_client(ask: _Asking, client: Client) -> None:
    known = client.known
    opened = ask("open_nodes", {"names": [*known.entities, *known.deleted], "details": True})
    there = {text_at(each, "name"): each for each in objects_at(opened, "entities")}
    assert {name: strings_at(each, "observations") for name, each in there.items()} == known.entities
    guarded = [each for each in objects_at(opened, "relations") if each["relationType"] == "guarda"]
    assert {(text_at(each, "from"), text_at(each, "to")) for each in guarded} == known.relations
    assert len(guarded) == len(known.relations)
    told = objects_at(there[client.name], "reflections")
    _check_reflections([text_at(each, "content") for each in told], known.reflections)
    for number, content in known.memories.items():
        assert text_at(ask("get_hipocampo", {"id": number}), "memory", "content") == content
    _check_facts(ask, client)


def _check_reflections(found: Sequence[str], told: Sequence[Told]) -> None:
    assert set(found) == {each.text for each in told}
    for each in told:
        assert 1 <= found.count(each.text) <= 1 + each.doubts, each


def _check_facts(ask: _Asking, client: Client) -> None:
    known = client.known
    facts = _all_facts(ask, {"query": client.name, "predicates": ["sabe", "vive_en"], "include_ended": True})
    mine = [each for each in facts if each["subject"] == client.name]
    sayings = [each for each in mine if each["predicate"] == "sabe"]
    assert {text_at(each, "value"): _id(each) for each in sayings} == known.facts
    assert len(sayings) == len(known.facts)
    homes = [each for each in mine if each["predicate"] == "vive_en"]
    assert sorted(text_at(each, "object") for each in homes) == sorted(known.homes)
    assert [each["object"] for each in homes if each["active"]] == known.homes[-1:]


def _all_facts(ask: _Asking, arguments: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = []
    while True:
        page = ask("recall", {**arguments, "limit": 200, "offset": len(found)})
        found += objects_at(page, "facts")
        if not page["has_more"]:
            return found


@contextmanager
def at_work(clients: Sequence[Client]) -> Generator[None]:
    """The clients work meanwhile; what one of them finds wrong is raised at the end."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(clients)) as pool:
        running = [pool.submit(client.run, stop) for client in clients]
        try:
            yield
        finally:
            stop.set()
        for each in running:
            each.result(DEADLINE)
