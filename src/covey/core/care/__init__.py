"""Care of a space: the replay of the journal, consistency of the records, findings and diagnoses."""
