"""What runs in the guard's processes: the house that forks guardians, and the guardian of each run.

They start as programs of their own, often and fast: these modules import the standard library and each other, nothing
else of Covey.
"""
