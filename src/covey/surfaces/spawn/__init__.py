"""Children of this process: their programs, and what watches over them."""
