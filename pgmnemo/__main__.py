"""`python -m pgmnemo`, which is `mnemo`."""

from __future__ import annotations

import sys

from pgmnemo.cli import start

if __name__ == "__main__":
    sys.exit(start())
