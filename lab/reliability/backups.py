"""The check after an interrupted backup: a new backup restores all that was acknowledged."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.reliability.bed import Bed, Databases, bin_folder, own
from lab.reliability.known import judge
from pgmnemo.postgres.server_process import ServerProcess
from pgmnemo.postgres.temporary_folders import stop_server

PORT = "5433"  # port of the server that runs a base backup
RESTORED = "restored"


def wrong(bed: Bed, fresh: Databases, target: Path, code: int, case: Any) -> list[str]:
    """Return the faults of a backup at `target`, whose program exited with `code`, and of a new one."""
    if target.suffix == ".dump":
        target.unlink(missing_ok=True)
        restore, told = dumped, []
    else:
        looks_whole = (target / "backup_manifest").exists()
        told = ["a base backup that was cut short looks whole"] if code and looks_whole else []
        shutil.rmtree(target, ignore_errors=True)
        restore = copied
    with restore(bed, fresh, target, case.name) as (databases, name):
        found = judge(databases, name, case.tenant, case.known, fresh)
    return [*told, *(f"restored: {one}" for one in (*found.lost, *found.wrong))]


@contextmanager
def copied(bed: Bed, fresh: Databases, target: Path, name: str) -> Iterator[tuple[Databases, str]]:
    """Make a base backup with pg_basebackup, and yield a server that runs it."""
    run("pg_basebackup", "-D", target, "-X", "stream", "-c", "fast", "-d", bed.databases.dsn(name=name))
    with (target / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
        file.write(f"port = '{PORT}'\nfsync = off\n")
    own(target)
    home, sockets = bed.server.bin.parent, bed.folder / "s"
    copy = ServerProcess(home, target.parent, sockets, bed.server.settings, data=target.name)
    copy.start()
    try:
        yield Databases({**bed.databases.conninfo, "port": PORT}), name
    finally:
        stop_server(target)
        shutil.rmtree(target)


@contextmanager
def dumped(bed: Bed, fresh: Databases, target: Path, name: str) -> Iterator[tuple[Databases, str]]:
    """Restore a pg_dump, as sql/README.md says, into a new database of another server; yield both."""
    run("pg_dump", "-Fc", "-f", target, "-d", bed.databases.dsn(name=name))
    fresh.install(RESTORED)
    listed = target.with_suffix(".listed")
    lines = run("pg_restore", "-l", target).splitlines(keepends=True)
    listed.write_text("".join(line for line in lines if " SCHEMA - pgmnemo " not in line))
    run("pg_restore", "-1", "-L", listed, "-d", fresh.dsn(name=RESTORED), target)
    target.unlink()
    yield fresh, RESTORED
    with fresh.connect(name="postgres") as root:
        root.execute(f"DROP DATABASE {RESTORED} WITH (FORCE)")


def run(program: str, *given: object) -> str:
    """Run a program of PostgreSQL and return its output; exit if it fails."""
    done = subprocess.run(
        [str(bin_folder() / program), *map(str, given)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{program} failed: {done.stderr}")
    return done.stdout
