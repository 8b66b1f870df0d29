"""Clock, ids and liveness as the operating system gives them."""
