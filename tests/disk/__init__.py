"""What adapters that keep files share."""
