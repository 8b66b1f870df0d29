"""The MCP server: toolkits, mail and resources for any client that speaks the Model Context Protocol."""
