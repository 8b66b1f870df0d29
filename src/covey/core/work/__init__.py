"""Work between agents: tasks, children, approvals and negotiations."""
