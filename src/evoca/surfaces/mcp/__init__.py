"""The MCP surface: tools, the graph resource with its subscriptions, and the stdio transport."""
