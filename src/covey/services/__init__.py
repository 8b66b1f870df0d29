"""Services: one capability per module, joining core and ports. None of them depends on an event loop."""
