"""Options of verbs: times, names, references, texts, drafts and the acting agent."""
