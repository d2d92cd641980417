"""`python -m runner check-system NAME`: does a system keep the contract? And `peers install NAME`."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated

from cyclopts import App, Parameter

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import version_number
from runner.protocol.editions import current
from runner.systems import SYSTEMS, SystemContext
from runner.systems.conformance import check_system
from runner.systems.peers import environment


def check_system_command(
    name: Annotated[str, Parameter(help=f"{', '.join(SYSTEMS)}, or one of another package")],
    /,
    *,
    version: str | None = None,
    dsn: str | None = None,
    system_url: str | None = None,
    allow_reset: bool = False,
) -> int:
    """Check in half a minute that a system keeps the contract of every run; exits with 1 if not.

    Exits with 3 if the system cannot run here: a package, a database or a service is missing or broken.

    Args:
        version: version of pgmnemo (default: the current one)
        dsn: PostgreSQL to use (default: as for a run)
        system_url: address of the system http
        allow_reset: let the system http be emptied for all its users, before and after
    """
    settings = {setting: str(value) for setting, value in current().settings.items()}
    context = SystemContext(
        Path(gettempdir()), version_number(version), "check-system", settings,
        os.environ, dsn, SQL_FOLDER, system_url, allow_reset,
    )  # fmt: skip
    broken = 0
    for found in check_system(name, context):
        broken += not found.holds
        print(f"{'holds' if found.holds else 'WRONG':<6} {found.name:<23} {found.sentence}", flush=True)
    faults = f": {broken} fault{'s' if broken > 1 else ''}" if broken else ""
    print(f"{name} {'breaks' if broken else 'keeps'} the contract{faults}")
    return int(broken > 0)


peers = App(name="peers", help="Install peers that need an environment of their own.")


@peers.command
def install(name: str, /) -> int:
    """Create the peer's environment in the user's cache folder, and replace an existing one.

    Args:
        name: mem0
    """
    peer = environment(name)
    print(f"{peer.package} {peer.version} goes into {peer.folder()} ({peer.size})", flush=True)
    print(f"{peer.install()}: installed; delete the folder to be rid of it")
    return 0
