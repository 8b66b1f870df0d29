"""The pure core, by properties."""
