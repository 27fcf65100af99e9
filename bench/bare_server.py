"""The base of comparison: a server of the same SDK with one tool that does nothing. `python -m bench.bare_server`."""

from __future__ import annotations

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

Context = ServerRequestContext[dict[str, object]]
NOTHING = types.Tool(
    name="nothing",
    description="Does nothing.",
    input_schema={"type": "object", "properties": {"query": {"type": "string"}}},
    output_schema={"type": "object", "properties": {"done": {"type": "boolean"}}},
)


async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[NOTHING])


async def call_tool(_: Context, __: types.CallToolRequestParams) -> types.CallToolResult:
    text = types.TextContent(type="text", text='{"done":true}')
    return types.CallToolResult(content=[text], structured_content={"done": True})


async def main() -> None:
    server = Server[dict[str, object]]("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
