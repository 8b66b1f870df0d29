"""Views: how messages, questions, tasks, findings and events look to a person and to a program."""
