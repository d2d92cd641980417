"""`python -m runner peers install NAME`: the environment of a peer that does not fit into ours."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from runner.systems.apart import APART

peers = App(name="peers", help="Install peers that need an environment of their own.")


@peers.command
def install(name: Annotated[str, Parameter(help=", ".join(APART))], /) -> int:
    """Make the peer's environment in the user's cache folder, anew if it is there."""
    from runner.systems.apart import apart

    peer = apart(name)
    print(f"{peer.package} {peer.version} goes into {peer.folder()} ({peer.size})", flush=True)
    print(f"{peer.install()}: installed; delete the folder to be rid of it")
    return 0
