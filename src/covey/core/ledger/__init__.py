"""The ledger's records and their rules: messages, deliveries, offers, evidence, tickets, receipts, the journal."""
