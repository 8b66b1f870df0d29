"""What the memory adapter promises beyond the contracts."""
