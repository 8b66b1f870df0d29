"""Hypothesis for the core: the usual number of examples, and no deadline, because the machine may be busy."""

from hypothesis import settings

settings.register_profile("covey", settings(), deadline=None)
settings.load_profile("covey")
