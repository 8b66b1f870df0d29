"""Guard processes: the fork server, and a guardian for each run.

They start often and have to start fast. So these modules import only the standard library, each other and a few small
modules of Covey.
"""
