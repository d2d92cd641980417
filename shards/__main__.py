"""`python -m shards`."""

from __future__ import annotations

import sys

from shards.cli import main

if __name__ == "__main__":
    sys.exit(main())
