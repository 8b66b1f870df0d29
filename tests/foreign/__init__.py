"""Programs that share a folder with Covey: written from the documents of their projects, importing nothing of it."""
