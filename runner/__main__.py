"""`python -m runner`: the command line with PYTHONHASHSEED=42, which must be set before Python starts."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper

SEED = "42"
OLDEST = (3, 11)


def start(module: str = "runner.cli") -> int:
    """Re-execute Python with the hash seed if it is not set, run `main` of `module`, and return its exit
    code.

    Returns 3 if Python is too old or a package is missing, and 130 if the user interrupts the imports.
    """
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        print(f"error: Python 3.11 or later is needed, and this is {found}; take another", file=sys.stderr)
        return 3
    if os.environ.get("PYTHONHASHSEED") != SEED:
        os.environ["PYTHONHASHSEED"] = SEED
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # if the encoding has no → or §, print an escape
            stream.reconfigure(errors="backslashreplace")
    try:
        return _ended(import_module(module).main())
    except ModuleNotFoundError as error:  # a Python without the packages
        if str(error.name).partition(".")[0] in ("lab", "pgmnemo", "runner"):
            raise
        told = f"error: {sys.executable} has no package {error.name}"
        remedy = "use .venv/bin/python, which `make bench` makes, or install -e . and -e runner by pip"
        print(f"{told}; {remedy}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:  # while the modules are still being loaded
        return 130


def _ended(code: int) -> int:
    """Return the exit code, but exit the process here if torch is loaded, which takes seconds to unload."""
    if "torch" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(start())
