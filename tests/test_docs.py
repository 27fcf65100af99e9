"""The documents say what the code says: their made parts, links, examples and the docstrings of modules."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from evoca.operations.catalogue import CATALOGUE
from evoca.settings import Settings, variable_of
from scripts.docs import documents, regions, renewed

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOLS = (ROOT / "docs/tools.md").read_text(encoding="utf-8")
DOCUMENTS = pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)


def headings(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    lines = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


@DOCUMENTS
def test_made_parts_are_as_the_code_says(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert renewed(text, regions()) == text, "run: make docs"


def test_every_made_part_has_a_place() -> None:
    text = "".join(document.read_text(encoding="utf-8") for document in documents())
    placed = re.findall(r"<!-- begin ([\w-]+) -->", text)
    assert sorted(placed) == sorted(regions())


def test_tools_stand_in_one_section_each() -> None:
    sections = re.findall(r"^## `(\w+)`$", TOOLS, re.MULTILINE)
    assert sorted(sections) == sorted(operation.name for operation in CATALOGUE if operation.listed)


def test_every_key_of_an_answer_is_explained() -> None:
    """Beside the made list of keys, the tool's section or the common part must say what a key is."""
    prose = re.sub(r"<!-- begin .*?<!-- end [\w-]+ -->", "", TOOLS, flags=re.DOTALL)
    known = {"entities", "relations", "results"}
    for operation in CATALOGUE:
        keys = list(operation.result_type.__annotations__)
        unexplained = [key for key in keys if key not in known and f"`{key}" not in prose and f"{key}:" not in prose]
        assert not unexplained, f"{operation.name}: {unexplained}"


def test_every_variable_of_the_settings_has_its_row() -> None:
    text = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.+) \|$", text, re.MULTILINE)
    assert [name for name, _ in rows] == [variable_of(field) for field in Settings.model_fields]
    assert all(meaning.strip() for _, meaning in rows)


@DOCUMENTS
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)]+)\)", document.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        there = (document.parent / path).resolve() if path else document
        assert there.exists(), f"{document.name} points to {target}"
        if anchor:
            assert anchor in headings(there.read_text(encoding="utf-8")), f"{document.name} points to {target}"


@DOCUMENTS
def test_variables_that_are_mentioned_exist(document: Path) -> None:
    mentioned = set(re.findall(r"EVOCA_[A-Z_]+", document.read_text(encoding="utf-8")))
    unknown = mentioned - {variable_of(field) for field in Settings.model_fields} - {"EVOCA_"}
    assert not unknown


@DOCUMENTS
def test_json_examples_are_json(document: Path) -> None:
    for block in re.findall(r"```json\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
        for example in re.split(r"\n(?=\{)", block.strip()):
            json.loads(example if example.startswith("{") else f"{{{example}}}")


def test_the_two_commands_come_first() -> None:
    first = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert [line.split("#")[0].strip() for line in first[1].strip().splitlines()] == ["make run", "make test"]


def test_python_examples_of_the_readme_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 - our own example
    assert capsys.readouterr().out.startswith("Lucía ")


def test_every_module_says_what_it_is_for() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{path.name} has no docstring"


def test_every_public_part_of_the_contracts_is_described() -> None:
    """Error classes and operations: what a client meets must be explained where it is defined."""
    tree = ast.parse((ROOT / "src/evoca/errors.py").read_text(encoding="utf-8"))
    bare = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not ast.get_docstring(node)]
    assert not bare
    for operation in CATALOGUE:
        assert operation.title
        assert len(operation.doc) > 30, operation.name
