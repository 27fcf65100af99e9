"""What the Dockerfile and docker-compose.yml say, as far as it can be tried without an engine for containers.

The linters are in `scripts/check`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from tests.process.support.http import HttpServer
from tests.process.support.launch import ROOT, isolated_env

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    return [line.removeprefix(name).strip() for line in DOCKERFILE.splitlines() if line.startswith(f"{name} ")]


def health(port: int, home: Path) -> int:
    """The exit code of the image's health check."""
    (instruction,) = instructions("HEALTHCHECK")
    program, *arguments = json.loads(instruction[instruction.index("[") :])
    assert program == "python"
    env = isolated_env(home, {"EVOCA_PORT": str(port)})
    return subprocess.run([sys.executable, *arguments], env=env, check=False, capture_output=True).returncode


def test_the_health_check_tells_whether_the_server_lives(tmp_path: Path) -> None:
    with HttpServer(tmp_path, tmp_path / "memory.db") as server:
        port = server.port
        assert health(port, tmp_path) == 0
    assert health(port, tmp_path) != 0


def test_the_image_runs_as_nobody_s_superuser() -> None:
    users = instructions("USER")
    assert users
    assert users[-1].isdigit()
    assert int(users[-1]) > 0


def test_the_image_s_settings_are_settings() -> None:
    from evoca.settings import Settings, variable_of

    known = {variable_of(field) for field in Settings.model_fields}
    assert set(re.findall(r"EVOCA_\w+", DOCKERFILE + COMPOSE)) <= known


def test_what_is_copied_into_the_image_is_there_and_not_ignored() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    sources = [name for each in instructions("COPY") if "--from" not in each for name in each.split()[:-1]]
    assert sources
    for name in sources:
        assert (ROOT / name).exists(), name
        assert any(fnmatch(name, pattern) for pattern in allowed), name


def test_the_password_is_in_no_file() -> None:
    assert "${POSTGRES_PASSWORD:?" in COMPOSE
    assert not re.search(r"PASSWORD: (?!\"\$\{)", COMPOSE)
    assert ".env" in (ROOT / ".gitignore").read_text("utf-8").split()


def test_the_readme_s_commands_name_what_is_there() -> None:
    commands = re.findall(r"^docker compose .*", README, re.MULTILINE)
    assert commands
    for command in commands:
        words = command.split("#")[0].split()[2:]
        if words[0] == "run":
            assert re.search(rf"^  {words[2]}:$", COMPOSE, re.MULTILINE)
        assert words[0] in ("run", "up", "logs", "down")
