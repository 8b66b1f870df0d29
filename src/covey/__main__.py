"""`python -m covey`."""

import sys

from covey.surfaces.cli.main import main

sys.exit(main())
