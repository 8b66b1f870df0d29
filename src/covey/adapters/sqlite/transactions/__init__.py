"""Transactions: readers, writers, group commit, and the queues in front of them."""
