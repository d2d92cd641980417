"""`python -m runner submit DIR --output FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.options import Run


def submit_command(
    folder: Run,
    /,
    *,
    output: Annotated[Path, Parameter(help="new file that ends in .tar.gz")],
) -> int:
    """Verify a run, then pack it with its entry in HISTORY.md into one archive, which others can verify."""
    from pgmnemo.terminal import say
    from runner.commands.submit.submitting import submit

    say(f"written: {submit(folder, output)}")
    return 0
