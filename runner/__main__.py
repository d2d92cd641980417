"""`python -m runner`: sees to PYTHONHASHSEED=42, which must be set before Python starts, then the CLI."""

from __future__ import annotations

import os
import sys

SEED = "42"


def start() -> int:
    """Re-execute with the seed if need be; the exit code of the command."""
    if os.environ.get("PYTHONHASHSEED") != SEED:
        os.environ["PYTHONHASHSEED"] = SEED
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    try:
        from runner.cli import main

        return main()
    except ModuleNotFoundError as error:  # a Python without the packages
        if str(error.name).partition(".")[0] == "runner":
            raise
        told = f"error: {sys.executable} has no package {error.name}"
        print(f"{told}; use .venv/bin/python, which `make bench` makes, or pip install -e .", file=sys.stderr)
        return 3
    except KeyboardInterrupt:  # while the modules are still being loaded
        return 130


if __name__ == "__main__":
    sys.exit(start())
