"""The official client, on both revisions of the protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TextIO

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from evoca import __version__
from evoca.surfaces.mcp.updates import GRAPH_URI
from tests.process.support.launch import ROOT, isolated_env
from tests.surfaces.conftest import toy_command

Era = Literal["legacy", "2026-07-28"]
ERAS: list[Era] = ["legacy", "2026-07-28"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def nowhere() -> Iterator[TextIO]:
    with Path(os.devnull).open("w", encoding="utf-8") as stream:
        yield stream


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> StdioServerParameters:
    command, *arguments = toy_command(folder)
    return StdioServerParameters(command=command, args=arguments, env=isolated_env(tmp_path / "home"), cwd=ROOT)


@pytest.mark.parametrize("era", ERAS)
async def test_tools_and_resources_work(server: StdioServerParameters, nowhere: TextIO, era: Era) -> None:
    async with Client(stdio_client(server, errlog=nowhere), mode=era) as client:
        assert client.protocol_version == ("2025-11-25" if era == "legacy" else era)
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools][:3] == ["echo", "big", "save"]
        result = await client.call_tool("save", {"text": "ñandú"})
        assert not result.is_error
        assert result.structured_content == {"text": "ñandú"}
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert content.text == '{"text":"ñandú"}'
        refused = await client.call_tool("save", {"txt": "a"})
        assert refused.is_error
        with pytest.raises(MCPError, match="Unknown tool: nope"):
            await client.call_tool("nope", {})
        read = await client.read_resource(GRAPH_URI)
        (text,) = read.contents
        assert isinstance(text, TextResourceContents)
        assert text.text == '{"names":["ñandú"]}'
        with pytest.raises(MCPError, match="Resource not found: memory://other") as unknown:
            await client.read_resource("memory://other")
        assert unknown.value.error.code == (-32002 if era == "legacy" else -32602)
        assert unknown.value.error.data == {"uri": "memory://other"}


async def test_a_client_that_tries_the_newest_protocol_first_is_met_there(
    server: StdioServerParameters, nowhere: TextIO
) -> None:
    async with Client(stdio_client(server, errlog=nowhere)) as client:
        assert client.protocol_version == "2026-07-28"
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("evoca", __version__)
        assert client.instructions is not None
        assert 200 < len(client.instructions.encode()) <= 1024
        resources, tools = client.server_capabilities.resources, client.server_capabilities.tools
        assert resources is not None
        assert resources.subscribe
        assert tools is not None
        # Which tools and resources there are is settled when the process starts.
        assert not tools.list_changed
        assert not resources.list_changed
