"""`python -m covey`."""

import sys

from covey.surfaces.cli.process import run

sys.exit(run())
