"""The Python API: `covey.open`, spaces, members, inboxes and receipts."""
