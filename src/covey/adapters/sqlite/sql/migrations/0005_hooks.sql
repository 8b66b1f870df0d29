-- Set if hooks of a client show its mail, so that its MCP server does not.
alter table sessions add column hooked_at text;
