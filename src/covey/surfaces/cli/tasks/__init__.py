"""Tasks on the command line: how they are named, shown, waited for and watched."""
