"""Text for readers: foreign text made harmless, hidden characters, and words for counts and mistyped names."""
