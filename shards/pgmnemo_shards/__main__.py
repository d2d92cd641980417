"""Run the command `pgmnemo-shards` as a module."""

from __future__ import annotations

import sys

from pgmnemo_shards.cli import main

if __name__ == "__main__":
    sys.exit(main())
