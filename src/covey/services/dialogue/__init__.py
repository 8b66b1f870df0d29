"""Dialogue: threads, questions with a ticket, the gate, approvals and negotiations."""
