"""Releases of the extension: the current release, and the facts on the frozen releases (sql/releases.toml).

PostgreSQL installs a version by its own script, or by an older script and updates from there.
"""

from __future__ import annotations

import re
import tomllib
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec

from pgmnemo.errors import DatabaseError, os_errors
from pgmnemo.paths import CONTROL, DEFAULT_VERSION, SQL_FOLDER


class Release(msgspec.Struct, frozen=True):
    """A release: the fingerprint of its functions, and hashes of its scripts (by the version updated from).

    A release without `install_sha256` has no script of its own: PostgreSQL installs an older release and
    updates it; one without hashes of scripts has only its fingerprint. `objects_sha256` covers all objects of
    the release, as tests/sql lists them. `tuned_on` names, for each suite, the items on which the version's
    defaults were chosen; `edition` is the edition in force at the freeze.
    """

    fingerprint: str | None = None
    install_sha256: str | None = None
    upgrade_sha256: dict[str, str] = {}
    objects_sha256: str | None = None
    tuned_on: dict[str, str] = {}
    edition: str = ""

    @property
    def has_script(self) -> bool:
        """Return whether a script that leads to the release is kept."""
        return bool(self.install_sha256 or self.upgrade_sha256)


def default_version(sql: Path = SQL_FOLDER) -> str:
    """Return the current release, such as `0.3.1`: the default version in the control file of `sql`.

    No other file defines it. Raise DatabaseError if it cannot be read.
    """
    path = sql / CONTROL
    with os_errors(f"{path} cannot be read ({{why}}): run from a checkout of the repository", DatabaseError):
        found = DEFAULT_VERSION.search(path.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        raise DatabaseError(f"{path} has no default_version: restore it as it is committed (git checkout)")
    return found[1]


def version_number(version: str | None) -> str:
    """Return a version without a `v`, as in the names of scripts; the current release for None."""
    return default_version() if version is None else version.removeprefix("v")


def _read_entries(path: Path, kind: type[L]) -> dict[str, L]:
    """Return the entries of a release list by version; empty if there is no file."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, kind])  # type: ignore[valid-type]
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DatabaseError(f"the list of {path.stem} {path} cannot be read: {error}") from None


def _releases(sql: Path) -> dict[str, Release]:
    """Return every release by its version."""
    return _read_entries(sql / "releases.toml", Release)


def release_of(sql: Path, version: str) -> Release | None:
    """Return the release `version`; None if it is not released yet."""
    return _releases(sql).get(version)


def release_fingerprints(sql: Path) -> dict[str, str]:
    """Return a mapping from version to fingerprint, for each release that has a fingerprint."""
    return {version: one.fingerprint for version, one in _releases(sql).items() if one.fingerprint}


def setting_defaults(sql: Path, version: str) -> dict[str, str]:
    """Return the settings of a release with their defaults, without `pgmnemo.`; empty if unknown.

    They are in defaults.toml.
    """
    return _read_entries(sql / "defaults.toml", dict[str, str]).get(version, {})


def release_fingerprint(sql: Path, version: str) -> str | None:
    """Return the fingerprint that release `version` must have; None if it is not released yet."""
    release = release_of(sql, version)
    return release.fingerprint if release else None


NAME = re.compile(r"pgmnemo--(?:(?P<source>[^-]+)--)?(?P<target>[^-]+)\.sql")
L = TypeVar("L")
Step = tuple[str | None, str]  # a script's source and target; an install script has no source


def scripts(sql: Path, version: str) -> list[Path]:
    """Return the scripts in `sql` that CREATE EXTENSION runs for `version`, in order; empty if there is no
    path.

    The path is chosen as PostgreSQL does (find_install_path): the fewest scripts, then the newest install
    script by its name.
    """
    steps = _steps(sql)
    routes: list[tuple[str, ...]] = [(version,)]  # from new to old versions, one step longer in each pass
    while routes:
        if whole := [route for route in routes if (None, route[-1]) in steps]:
            start = max(route[-1] for route in whole)
            route = min(route for route in whole if route[-1] == start)[::-1]
            return [sql / _name(step) for step in zip((None, *route), route, strict=False)]
        routes = _longer(routes, steps)
    return []


def updates(sql: Path, former: str, version: str) -> list[Path]:
    """Return the scripts in `sql` that update one version to a later one, in order; empty if there is
    no path.
    """
    steps = _steps(sql)
    routes: list[tuple[str, ...]] = [(version,)]
    while routes:
        if whole := [route[::-1] for route in routes if route[-1] == former]:
            return [sql / _name(step) for step in pairwise(min(whole))]
        routes = _longer(routes, steps)
    return []


def _longer(routes: list[tuple[str, ...]], steps: set[Step]) -> list[tuple[str, ...]]:
    return [
        (*route, source) for route in routes for source, target in steps
        if source is not None and target == route[-1] and source not in route
    ]  # fmt: skip


def versions(sql: Path) -> list[str]:
    """Return the versions that the scripts in `sql` can install."""
    return sorted(target for target in {target for _, target in _steps(sql)} if scripts(sql, target))


def missing_script(sql: Path, version: str) -> str | None:
    """Return the name of the first script of `version` that is missing from `sql`.

    Returns None if all are there, or if the release keeps no script.
    """
    if release_of(sql, version) is None and version == default_version(sql):  # in development
        name = _name((None, version))
        return None if (sql / name).is_file() else name
    while (release := release_of(sql, version)) is not None and release.has_script:
        source = None if release.install_sha256 else max(release.upgrade_sha256, default=None)
        if not (sql / (name := _name((source, version)))).is_file():
            return name
        if source is None:
            break
        version = source
    return None


def changed_script(sql: Path, version: str) -> str | None:
    """Return a sentence about a script for `version` that differs from its release; None without a fault.

    A version that is not released has no fault. Raise DatabaseError for a list that cannot be read.
    """
    for path in scripts(sql, version):
        source, target = _step(path)
        release = release_of(sql, target)
        if release is None or not release.has_script:
            continue
        wanted = release.upgrade_sha256.get(source) if source else release.install_sha256
        if wanted is None:
            return f"{path.name} is no script of release {target}"
        if (found := sha256(path.read_bytes()).hexdigest()) != wanted:
            return f"{path.name} is not that of release {target}: its sha256 is {found}, not {wanted}"
    return None


def _steps(sql: Path) -> set[Step]:
    return {_step(path) for path in sql.glob("pgmnemo--*.sql") if NAME.fullmatch(path.name)}


def _step(path: Path) -> Step:
    found = NAME.fullmatch(path.name)
    assert found is not None
    return found["source"], found["target"]


def _name(step: Step) -> str:
    return f"pgmnemo--{'--'.join(version for version in step if version)}.sql"
