"""The current release of the extension, and what is known of the frozen ones: sql/releases.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from pgmnemo.errors import DatabaseError, os_errors
from pgmnemo.places import SQL_FOLDER
from pgmnemo.versions import CONTROL, DEFAULT


class Release(msgspec.Struct, frozen=True):
    """One release: the fingerprint of its functions, and hashes of its scripts (by the version updated from).

    One without `install_sha256` has no script of its own: PostgreSQL installs an older one and updates it.
    `objects_sha256` is of all that it installs, as tests/sql lists it. `tuned_on` says by suite on which of
    its items the defaults of the version were chosen, `edition` which one was in force when it was frozen.
    """

    fingerprint: str | None = None
    install_sha256: str | None = None
    upgrade_sha256: dict[str, str] = {}
    objects_sha256: str | None = None
    tuned_on: dict[str, str] = {}
    edition: str = ""


def default_version(sql: Path = SQL_FOLDER) -> str:
    """The current release, such as `0.3.1`: what the control file in `sql` gives where none is named.

    It stands nowhere else. Raises DatabaseError.
    """
    path = sql / CONTROL
    with os_errors(f"{path} cannot be read ({{why}}): run from a checkout of the repository", DatabaseError):
        found = DEFAULT.search(path.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        raise DatabaseError(f"{path} has no default_version: restore it as it is committed (git checkout)")
    return found[1]


def version_number(version: str | None) -> str:
    """A version as its scripts bear it, without a `v`; that of the current release for None."""
    return default_version() if version is None else version.removeprefix("v")


def _releases(sql: Path) -> dict[str, Release]:
    """Every release by its version; none where there is no list."""
    path = sql / "releases.toml"
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, Release])
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DatabaseError(f"the list of releases {path} cannot be read: {error}") from None


def release_of(sql: Path, version: str) -> Release | None:
    """The release `version`; None if it is not released yet."""
    return _releases(sql).get(version)


def release_fingerprints(sql: Path) -> dict[str, str]:
    """By version the fingerprint of each release that has one."""
    return {version: one.fingerprint for version, one in _releases(sql).items() if one.fingerprint}


def setting_defaults(sql: Path, version: str) -> dict[str, str]:
    """Every setting of a release that has a default, as it lists it, without `pgmnemo.`; empty: not known.

    They stand in defaults.toml, of each release the settings that are new or other than in the one before.
    """
    path = sql / "defaults.toml"
    try:
        listed = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, dict[str, str]])
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DatabaseError(f"the list of defaults {path} cannot be read: {error}") from None
    return listed.get(version, {})


def release_fingerprint(sql: Path, version: str) -> str | None:
    """The fingerprint that release `version` must have; None if it is not released yet."""
    release = release_of(sql, version)
    return release.fingerprint if release else None
