"""Views: messages, questions, tasks, findings and events, in output for people and programs."""
