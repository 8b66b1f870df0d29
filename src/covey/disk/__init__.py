"""What adapters that keep files share: waiting for the disk, and in line for a lock."""
