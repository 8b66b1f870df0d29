"""The demo: real processes on a fresh space, and a transcript made from its journal."""
