"""The HTTP surface: REST, MCP, health, metrics and documentation on one port. Only `evoca serve` imports it."""
