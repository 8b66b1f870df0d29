"""Options of verbs: times, names, references, texts, drafts and who acts."""
