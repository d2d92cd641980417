"""Where the extension's files are, and versions as numbers that can be compared.

The files are packed beside this package in a wheel, in `sql/` of a checkout.
"""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
"""The repository, where this package is used from one."""

SQL_FOLDER = PACKAGE / "sql" if (PACKAGE / "sql").is_dir() else CHECKOUT / "sql"
"""Control file, scripts and the list of releases."""


CONTROL = "pgmnemo.control"
DEFAULT_VERSION = re.compile(r"^default_version\s*=\s*'([^']+)'", re.MULTILINE)


def release_numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers: `v0.3.0-rc1` and `0.3.0` are of one release."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))
