"""Foreign programs that share a folder with Covey: written from the documents of their projects, without imports of
Covey."""
