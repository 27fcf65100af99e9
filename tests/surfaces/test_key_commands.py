"""`evoca keys` and `evoca compact`, as a person uses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from evoca.operations.catalogue import CATALOGUE
from evoca.runtime import Runtime
from evoca.settings import load_settings
from tests.surfaces.test_cli import Shell

COMMANDS = {operation.cli: operation for operation in CATALOGUE}
WORD = "El zarigüeyómetro marca 7"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def listed(shell: Shell) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", shell.answer("keys", "list")["keys"])


def test_a_secret_is_printed_once_and_alone(shell: Shell) -> None:
    made = shell.run("keys", "create", "portátil")
    secret = made.stdout.strip()
    assert re.fullmatch(r"evoca_[A-Za-z0-9_-]{43}", secret)
    assert "key 1 portátil: write, every collection. Keep the secret" in made.stderr
    assert secret not in made.stderr
    told = shell.run("keys", "list")
    assert secret not in told.stdout + told.stderr
    (key,) = listed(shell)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(key.pop("created_at")))
    assert key == {
        "id": 1,
        "name": "portátil",
        "scope": "write",
        "collections": "all",
        "last_used_at": None,
        "revoked_at": None,
    }


def test_a_key_for_some_collections(shell: Shell) -> None:
    for code in ("casa", "obra"):
        shell.answer("create-collection", "--code", code)
    shell.run("keys", "create", "tablero", "--scope", "read", "--collection", "obra", "--collection", "casa")
    (key,) = listed(shell)
    assert (key["scope"], key["collections"]) == ("read", ["casa", "obra"])
    refused = shell.run("keys", "create", "otro", "--collection", "nada", code=1)
    assert "Collection not found: nada" in refused.stderr
    assert refused.stdout == ""
    assert len(listed(shell)) == 1


def test_keys_are_revoked_by_name_or_id(shell: Shell) -> None:
    for name in ("uno", "dos"):
        shell.run("keys", "create", name)
    assert "key 1 uno is revoked" in shell.run("keys", "revoke", "uno").stderr
    assert "key 2 dos is revoked" in shell.run("keys", "revoke", "2").stderr
    assert all(key["revoked_at"] for key in listed(shell))
    assert "Key not found: uno" in shell.run("keys", "revoke", "uno", code=1).stderr
    assert "Key already revoked: 2" in shell.run("keys", "revoke", "2", code=1).stderr


def test_what_cannot_be_is_explained(shell: Shell) -> None:
    assert "There is no store at " in shell.run("keys", "list", code=1).stderr
    assert "There is no store at " in shell.run("compact", code=1).stderr
    assert not (shell.folder / "memory.db").exists()
    assert "A key's name is " in shell.run("keys", "create", " ", code=2).stderr
    assert "is not a collection code" in shell.run("keys", "create", "uno", "--collection", "La Casa", code=2).stderr
    assert "'root' is not one of" in shell.run("keys", "create", "uno", "--scope", "root", code=2).stderr
    shell.run("keys", "create", "uno")
    assert "Key already exists: uno" in shell.run("keys", "create", "uno", code=1).stderr


DELETIONS: Mapping[str, tuple[tuple[str, Mapping[str, object]], tuple[str, Mapping[str, object]]]] = {
    "entity": (("create-entities", {"entities": [{"name": WORD}]}), ("delete-entities", {"entityNames": [WORD]})),
    "observation": (
        ("create-entities", {"entities": [{"name": "Faro", "observations": [WORD]}]}),
        ("delete-observations", {"name": "Faro", "observations": [WORD]}),
    ),
    "relation": (
        ("create-relations", {"relations": [{"from": "A", "to": "B", "relationType": WORD, "context": WORD}]}),
        ("delete-relations", {"relations": [{"from": "A", "to": "B", "relationType": WORD}]}),
    ),
    "fact": (
        ("remember", {"subject": "A", "predicate": "dice", "value": WORD, "context": WORD}),
        ("forget", {"subject": "A", "predicate": "dice", "value": WORD}),
    ),
    "entity of facts": (
        ("remember", {"subject": WORD, "predicate": "dice", "value": WORD}),
        ("forget-entity", {"entity": WORD, "confirm": True}),
    ),
    "memory": (
        ("save-hipocampo", {"content": WORD, "code": WORD, "categories": [WORD]}),
        ("delete-hipocampo", {"id": 0}),
    ),
    "collection": (
        ("create-entities", {"entities": [{"name": WORD, "observations": [WORD]}], "collection": "obra"}),
        ("delete-collection", {"code": "obra", "confirm": True}),
    ),
}


def test_what_was_deleted_and_compacted_is_in_no_file(shell: Shell) -> None:
    """Case B026: by each route the words are gone from answers at once, and from the disk with the next compaction."""
    place = shell.folder / "memory.db"
    runtime = Runtime(load_settings(store=str(place), embedder="none"))
    with closing(runtime):

        def call(command: str, given: Mapping[str, object]) -> Mapping[str, object]:
            return runtime.call(COMMANDS[command], given)

        call("create-collection", {"code": "obra"})
        call("create-entities", {"entities": [{"name": "A"}, {"name": "B"}]})
        for (put, content), (take, which) in DELETIONS.values():
            number = call(put, content).get("id")
            call(take, {**which, "id": number} if "id" in which else which)
        for command, key in (("search-nodes", "entities"), ("search-hipocampo", "memories"), ("recall", "facts")):
            assert call(command, {"query": "zarigüeyómetro"})[key] == []
        assert any(b"zarig" in file.read_bytes().lower() for file in shell.folder.glob("memory.db*"))
    sizes = shell.answer("compact")
    assert sizes == {"store": str(place), "bytes_before": sizes["bytes_before"], "bytes_after": place.stat().st_size}
    for file in shell.folder.glob("memory.db*"):
        assert b"zarig" not in file.read_bytes().lower(), file.name
    assert cast("dict[str, str]", shell.answer("doctor")["health"])["integrity"] == "ok"
