"""How to tell each client about Evoca: where its configuration stands and what goes in."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Snippet:
    """`text` goes into `place`, a file, or is typed where `place` says."""

    client: str
    place: str
    text: str


def snippets(command: str) -> tuple[Snippet, ...]:
    """The configuration of each client. `command`: the absolute path of the program `evoca`."""
    server = {"command": command, "args": ["mcp"]}
    opencode = {"type": "local", "command": [command, "mcp"], "enabled": True}
    return (
        Snippet(
            "Claude Desktop",
            "claude_desktop_config.json (Settings > Developer > Edit Config)",
            _json({"mcpServers": {"memory": server}}),
        ),
        Snippet("Claude Code", "a terminal", f"claude mcp add --scope user memory -- {_quoted(command)} mcp"),
        Snippet("Cursor", "~/.cursor/mcp.json", _json({"mcpServers": {"memory": server}})),
        Snippet("VS Code", ".vscode/mcp.json", _json({"servers": {"memory": {"type": "stdio", **server}}})),
        Snippet(
            "OpenCode",
            "~/.config/opencode/opencode.json",
            _json({"$schema": "https://opencode.ai/config.json", "mcp": {"memory": opencode}}),
        ),
    )


def _json(value: object) -> str:
    """As a person would write it: lists of words on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    head, bracket, rest = text.partition("[\n")
    if not bracket:
        return text
    items, end, tail = rest.partition("]")
    return head + "[" + ", ".join(item.strip().rstrip(",") for item in items.strip().split("\n")) + end + tail


def _quoted(command: str) -> str:
    return f'"{command}"' if " " in command else command
