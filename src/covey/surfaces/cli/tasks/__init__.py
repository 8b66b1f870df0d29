"""Tasks on the command line: naming, showing, awaiting and watching them."""
