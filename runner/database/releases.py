"""What the frozen releases are known by: sql/releases.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from runner.errors import DatabaseError

SQL_FOLDER = Path(__file__).resolve().parents[2] / "sql"
DEFAULT_VERSION = "v0.3.1"  # of the extension, unless another is named


def release_fingerprint(sql: Path, version: str) -> str | None:
    """The fingerprint that release `version` must have; None if it is not released yet."""
    path = sql / "releases.toml"
    try:
        releases = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DatabaseError(f"the list of releases {path} cannot be read: {error}") from None
    value = releases.get(version, {}).get("fingerprint")
    return str(value) if value else None
