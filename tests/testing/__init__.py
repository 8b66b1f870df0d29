"""What covey.testing offers, tested itself."""
