"""Run the command `mnemo` by `python -m pgmnemo`."""

from __future__ import annotations

import sys

from pgmnemo.cli import start

if __name__ == "__main__":
    sys.exit(start())
