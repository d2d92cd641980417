"""`python -m lab`: set PYTHONHASHSEED=42 as `python -m runner` does, then run the command line."""

import sys

from runner.__main__ import start

if __name__ == "__main__":
    sys.exit(start("lab.cli"))
