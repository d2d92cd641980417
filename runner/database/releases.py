"""What is known of the frozen releases of the extension: sql/releases.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from runner.errors import DatabaseError
from runner.places import ROOT

SQL_FOLDER = ROOT / "sql"
DEFAULT_VERSION = "v0.3.1"  # of the extension, unless another is named


class Release(msgspec.Struct, frozen=True):
    """One release: the fingerprint of its functions, and hashes of its scripts (by the version updated from).

    `tuned_on` says by suite on which of its items the defaults of the version were chosen.
    """

    fingerprint: str | None = None
    install_sha256: str | None = None
    upgrade_sha256: dict[str, str] = {}
    tuned_on: dict[str, str] = {}


def release_of(sql: Path, version: str) -> Release | None:
    """The release `version`; None if it is not released yet."""
    path = sql / "releases.toml"
    try:
        releases = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, Release])
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DatabaseError(f"the list of releases {path} cannot be read: {error}") from None
    return releases.get(version)


def release_fingerprint(sql: Path, version: str) -> str | None:
    """The fingerprint that release `version` must have; None if it is not released yet."""
    release = release_of(sql, version)
    return release.fingerprint if release else None
