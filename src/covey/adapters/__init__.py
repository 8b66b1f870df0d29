"""One technology each: how the ports are met."""
