"""The scripts by which PostgreSQL installs a version: its own, or an older one's and updates from there."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from pgmnemo.server.releases import release_of

NAME = re.compile(r"pgmnemo--(?:(?P<source>[^-]+)--)?(?P<target>[^-]+)\.sql")
Step = tuple[str | None, str]  # a script's source and target; one that installs has no source


def scripts(sql: Path, version: str) -> list[Path]:
    """The scripts in `sql` that CREATE EXTENSION runs for `version`, in order; none if no way leads there.

    As PostgreSQL chooses (find_install_path): the fewest scripts, then the newest that installs by its name.
    """
    steps = _steps(sql)
    routes: list[tuple[str, ...]] = [(version,)]  # back to an older one, a step longer in each turn
    while routes:
        if whole := [route for route in routes if (None, route[-1]) in steps]:
            start = max(route[-1] for route in whole)
            route = min(route for route in whole if route[-1] == start)[::-1]
            return [sql / _name(step) for step in zip((None, *route), route, strict=False)]
        routes = [
            (*route, source) for route in routes for source, target in steps
            if source is not None and target == route[-1] and source not in route
        ]  # fmt: skip
    return []


def versions(sql: Path) -> list[str]:
    """Those that the scripts in `sql` lead to."""
    return sorted(target for target in {target for _, target in _steps(sql)} if scripts(sql, target))


def missing(sql: Path, version: str) -> str | None:
    """The name of a script of the released `version` that is not in `sql`; None where it needs none."""
    while (release := release_of(sql, version)) is not None:
        source = None if release.install_sha256 else max(release.upgrade_sha256, default=None)
        if not (sql / (name := _name((source, version)))).is_file():
            return name
        if source is None:
            break
        version = source
    return None


def changed(sql: Path, version: str) -> str | None:
    """What is wrong with a script by which `version` is installed, in one sentence; None if nothing is.

    Of a version that is not released, nothing can be. Raises DatabaseError for a list that cannot be read.
    """
    for path in scripts(sql, version):
        source, target = _step(path)
        release = release_of(sql, target)
        if release is None or not (release.install_sha256 or release.upgrade_sha256):
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
