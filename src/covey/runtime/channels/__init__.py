"""Running channels: pumps send posts to people, and an HTTP listener receives the messages of people."""
