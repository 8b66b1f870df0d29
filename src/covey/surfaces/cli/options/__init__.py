"""Options that several verbs share: drafts of messages, references to messages, and the acting user."""
