"""Mail: sending, accepting and filing messages, receipts, questions and their answers."""
