"""Views that several verbs share: messages, debts, questions and events, for people and programs."""
