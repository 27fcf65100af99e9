"""Keep what the documents say of tools, settings and differences equal to the code.

Between `<!-- begin NAME -->` and `<!-- end NAME -->` stands text made here; everything else is written by hand.
`python -m scripts.docs` writes those parts, with `--check` it only says which are out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from evoca.operations.base import Operation
from evoca.operations.catalogue import CATALOGUE
from evoca.settings import Settings, variable_of
from examples.clients import snippets
from tests.conformance import suites
from tests.differential.differences import DIFFERENCES

ROOT = Path(__file__).resolve().parent.parent
_REGION = re.compile(r"<!-- begin (?P<name>[\w-]+) -->\n(?P<body>.*?)<!-- end (?P=name) -->", re.DOTALL)

Schema = Mapping[str, object]


def regions() -> dict[str, str]:
    """Name → Markdown, for every part that is made from code."""
    return {
        "clients": _clients(),
        "settings": _settings(),
        "differences": _differences(),
        "conformance": suites.table(),
        "conformance-reasons": suites.reasons(),
        "toolsets": _toolsets(),
        **{operation.name: _tool(operation) for operation in CATALOGUE if operation.listed},
    }


# -- tools ------------------------------------------------------------------------------------------


def _tool(operation: Operation) -> str:
    hints = operation.hints
    kind = "reads" if hints.read_only else "deletes" if hints.destructive else "writes"
    again = ", harmless to repeat" if hints.idempotent else ""
    lines = [f"**{operation.title}** ({kind}{again}). {operation.doc}", ""]
    arguments = [row for row in _rows(operation.input_schema, "") if row != _COLLECTION]
    if arguments:
        lines += ["| argument | | |", "|---|---|---|", *arguments]
    else:
        lines += ["No arguments."]
    keys = ", ".join(f"`{name}`" for name in operation.result_type.__annotations__)
    return "\n".join([*lines, "", f"Keys of the answer: {keys}.", ""])


_COLLECTION = "| `collection` | text |  |"
"""Every tool's argument, told once at the top of the document."""


def _rows(schema: Schema, path: str) -> Iterator[str]:
    required = cast("list[str]", schema.get("required", []))
    for name, field in _properties(schema).items():
        full = f"{path}{name}"
        needed = (
            "required" if name in required else f"default `{_value(field['default'])}`" if "default" in field else ""
        )
        said = ", ".join(part for part in (_kind(field), needed) if part)
        yield f"| `{full}` | {said} | {field.get('description', '')} |"
        inner = _object_inside(field)
        if inner is not None:
            yield from _rows(inner, full + ("[]." if field.get("type") == "array" else "."))


def _properties(schema: Schema) -> dict[str, Schema]:
    return cast("dict[str, Schema]", schema.get("properties", {}))


def _object_inside(field: Schema) -> Schema | None:
    """The object that a field is, or that its items are."""
    if field.get("type") == "array":
        return _object_inside(cast("Schema", field.get("items", {})))
    if "anyOf" in field:
        return next((each for each in cast("list[Schema]", field["anyOf"]) if "properties" in each), None)
    return field if "properties" in field else None


def _kind(field: Schema) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(each) for each in cast("list[Schema]", field["anyOf"]))
    if field.get("type") == "array":
        return f"list of {_kind(cast('Schema', field.get('items', {})))}"
    if "enum" in field:
        return " or ".join(f"`{each}`" for each in cast("list[str]", field["enum"]))
    return {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(
        str(field["type"]), str(field["type"])
    )


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _toolsets() -> str:
    sets: dict[str, list[str]] = {}
    for operation in CATALOGUE:
        if operation.listed:
            sets.setdefault(operation.toolset, []).append(f"`{operation.name}`")
    rows = [f"| `{name}` | {', '.join(tools)} |" for name, tools in sets.items()]
    return "\n".join(["| toolset | tools |", "|---|---|", *rows, ""])


# -- the rest ---------------------------------------------------------------------------------------


def _settings() -> str:
    rows = ["| variable | default | |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default
        if name == "toolsets":
            shown = "all"
        elif isinstance(default, tuple):
            shown = ", ".join(f"`{each}`" for each in cast("tuple[object, ...]", default))
        elif default in ("", None):
            shown = ""
        else:
            shown = f"`{_value(default)}`"
        rows.append(f"| `{variable_of(name)}` | {shown} | {field.description} |")
    return "\n".join([*rows, ""])


def _differences() -> str:
    rows = [f"| {row.subject} | {row.official} | {row.evoca} | {row.reason} |" for row in DIFFERENCES]
    return "\n".join(["| what | official server | Evoca | because |", "|---|---|---|---|", *rows, ""])


def _clients() -> str:
    parts: list[str] = []
    for snippet in snippets("/path/to/evoca/.venv/bin/evoca"):
        language = "json" if snippet.text.startswith("{") else "sh"
        parts.append(f"**{snippet.client}** – {snippet.place}\n\n```{language}\n{snippet.text}\n```\n")
    return "\n".join(parts)


def renewed(text: str, made: Mapping[str, str]) -> str:
    """The document with its made parts as they must be. Raises KeyError for a name that nothing is made for."""
    return _REGION.sub(lambda m: f"<!-- begin {m['name']} -->\n{made[m['name']]}<!-- end {m['name']} -->", text)


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def main(arguments: list[str]) -> int:
    made = regions()
    placed: set[str] = set()
    stale: list[str] = []
    for path in documents():
        text = path.read_text(encoding="utf-8")
        placed |= {match["name"] for match in _REGION.finditer(text)}
        new = renewed(text, made)
        if new != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    missing = sorted(set(made) - placed)
    if missing:
        sys.stderr.write(f"No document has a place for: {', '.join(missing)}\n")
    if stale and "--check" in arguments:
        sys.stderr.write(f"Out of date: {', '.join(stale)}. Run: make docs\n")
        return 1
    sys.stdout.write(f"{len(made)} parts of {len(documents())} documents are as the code says\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
