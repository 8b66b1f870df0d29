"""Dialogue: threads, unanswered questions, the gate, approvals and negotiations."""
