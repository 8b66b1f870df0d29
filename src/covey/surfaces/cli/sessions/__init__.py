"""Sessions and their children on the command line: starting, showing, naming and stopping them."""
