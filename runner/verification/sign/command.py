"""`python -m runner sign DIR --key PRIVATE_KEY`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.options import Run


def sign_command(
    folder: Run,
    /,
    *,
    key: Annotated[Path, Parameter(help="private SSH key, or the public one of a key that the agent has")],
) -> int:
    """Sign a run: an SSH signature over its manifest, beside it in manifest.json.sig."""
    from pgmnemo.terminal import say
    from runner.verification.sign.signing import sign

    say(f"written: {sign(folder, key)}")
    return 0
