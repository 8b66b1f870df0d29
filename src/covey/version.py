"""The version of this package: its one home, read by the build too."""

__version__ = "0.1.0.dev0"
