"""Agents and sessions: cards, capacities, tokens, pauses, and the routing of messages to them."""
