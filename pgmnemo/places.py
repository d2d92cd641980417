"""Where the extension's files are: packed beside this package in a wheel, in `sql/` of a checkout."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
"""The repository, where this package is used from one."""

SQL_FOLDER = HERE / "sql" if (HERE / "sql").is_dir() else CHECKOUT / "sql"
"""Control file, scripts and the list of releases."""
