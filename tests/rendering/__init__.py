"""What others wrote, at every place where a model or a person reads it."""
