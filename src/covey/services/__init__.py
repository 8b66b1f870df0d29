"""One capability a module, joining core and ports. Nothing here knows an event loop."""
