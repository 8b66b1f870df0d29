"""The verb `channels`: its actions, its views, and the output of running channels."""
