"""What the README says of HTTP, typed as it is printed; only the address is the test's server's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.process.support.client import DEADLINE, objects_at
from tests.process.support.http import HttpServer, bearer
from tests.process.support.launch import ROOT, evoca_command, isolated_env

if TYPE_CHECKING:
    from pathlib import Path

    from tests.process.support.client import JsonObject

README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Over HTTP", 1)[1].split("\n## ", 1)[0]
PRINTED = "http://127.0.0.1:8420"
NODE = shutil.which("node", path=str(ROOT / "node_modules/.bin")) or shutil.which("node")

Serve = Callable[..., HttpServer]


def example(language: str, having: str) -> str:
    found = [block for block in re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL) if having in block]
    assert len(found) == 1, f"{len(found)} {language} examples with {having}"
    return found[0]


def run(command: list[str], server: HttpServer, home: Path) -> str:
    here = [part.replace(PRINTED, server.url) for part in command]
    done = subprocess.run(
        here, capture_output=True, text=True, env=isolated_env(home), cwd=home, timeout=DEADLINE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def facts(server: HttpServer) -> list[tuple[object, object, object]]:
    found = server.done("recall", {"query": "user:maya", "depth": 0})
    return [(each["subject"], each["predicate"], each["object"]) for each in objects_at(found, "facts")]


def test_the_printed_address_is_the_default() -> None:
    assert SECTION.count(PRINTED) >= 5
    assert "8420" in (ROOT / "src/evoca/settings.py").read_text("utf-8")


def test_the_curl_requests(serve: Serve, home: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    block = example("sh", "curl")
    assert "/v1/recall_connections" in block
    assert '{"entity": "user:maya", "depth": 2}' in block
    server = serve()
    answers = run(["sh", "-ec", block.replace("curl ", "curl -sS --fail-with-body ")], server, home)
    for key in ('"subject":"user:maya"', '"predicate":"has_skill"', '"object":"TypeScript"'):
        assert answers.count(key) == 3, answers
    assert '"entity":"user:maya"' in answers
    assert '"hop":1' in answers


def test_the_python_client(serve: Serve, home: Path) -> None:
    server = serve()
    program = example("py", "urlopen")
    assert run([sys.executable, "-c", program], server, home) == "user:maya works_at Acme\n"
    assert facts(server) == [("user:maya", "works_at", "Acme")]


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_javascript_client(serve: Serve, home: Path) -> None:
    server = serve()
    program = example("js", "fetch")
    assert NODE is not None
    printed = run([NODE, "--input-type=module", "--eval", program], server, home)
    assert printed == "user:maya works_at Acme\n"
    assert facts(server) == [("user:maya", "works_at", "Acme")]


def test_others_may_come_with_a_key(serve: Serve, home: Path, store: Path) -> None:
    """The commands under the examples, without the program's folder, and with a free port."""
    make, start = example("sh", "keys create").splitlines()
    arguments = make.split("#")[0].split()[1:]
    made = subprocess.run(
        [*evoca_command(*arguments), "--store", str(store)],
        capture_output=True, text=True, env=isolated_env(home), cwd=home, timeout=DEADLINE, check=True,
    )  # fmt: skip
    secret = re.search(r"evoca_[\w-]{43}", made.stdout)
    assert secret is not None
    hosts = re.search(r"EVOCA_ALLOWED_HOSTS='([^']+)'", start)
    assert hosts is not None
    assert start.endswith("serve --host 0.0.0.0")
    server = serve("--host", "0.0.0.0", env={"EVOCA_ALLOWED_HOSTS": hosts[1]})  # noqa: S104
    named: JsonObject = {}
    headers = {"Host": "memoria.lan:8420"} | bearer(secret[0])
    assert server.request("POST", "/v1/memory_status", named, headers).status == 200
    assert server.request("POST", "/v1/memory_status", named, {"Host": "memoria.lan:8420"}).status == 401
