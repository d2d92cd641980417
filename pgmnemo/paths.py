"""The folder of the extension's files, and versions as comparable numbers.

In a wheel the files are in this package, in a checkout in `sql/`.
"""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
"""The repository, if this package is used from a checkout."""

SQL_FOLDER = PACKAGE / "sql" if (PACKAGE / "sql").is_dir() else CHECKOUT / "sql"
"""The folder of the control file, the scripts and the list of releases."""


CONTROL = "pgmnemo.control"
DEFAULT_VERSION = re.compile(r"^default_version\s*=\s*'([^']+)'", re.MULTILINE)


def release_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; `v0.3.0-rc1` and `0.3.0` have the same numbers."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))
