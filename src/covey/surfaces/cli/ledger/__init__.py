"""Verbs that read the ledger: receipts, the journal, and the graph of waits."""
