"""``python -m lifenet.cli``."""

import sys

from lifenet.cli import main

sys.exit(main())
