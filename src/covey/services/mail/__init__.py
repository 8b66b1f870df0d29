"""Mail: sending, accepting, placing and filing messages, reading inboxes, notices, answers and waits."""
