"""Run a hook's work after its agent goes on, with the standard library: the agent waits for the start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from pgmnemo.integrations.hook_event import print_note, read_bytes

SECONDS = "300"
LONGEST_LOG = 1_000_000  # bytes, after which a new log begins and the former one is kept


def run_behind(arguments: Sequence[str]) -> int:
    """Run `mnemo` with these arguments but `--behind`, in a session that outlives the agent."""
    try:
        event = read_bytes()
        with _open_log() as log:
            started = subprocess.Popen(
                [sys.executable, "-m", "pgmnemo", *(one for one in arguments if one != "--behind")],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True,
                env={"PGMNEMO_HOOK_SECONDS": SECONDS, **os.environ},
            )  # fmt: skip
        assert started.stdin is not None
        with started.stdin as pipe:
            pipe.write(event)
    except (OSError, ValueError) as error:
        print_note("save", f"{getattr(error, 'strerror', None) or error}; nothing was saved")
    return 0


def _open_log() -> IO[bytes]:
    """Open the log of what runs behind; nothing is logged if it cannot be written."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    path = os.path.expanduser(os.environ.get("PGMNEMO_HOOK_LOG") or f"{state}/mnemo-hooks.log")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > LONGEST_LOG:
            os.replace(path, f"{path}.1")
        return open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))
    except OSError:
        return open(os.devnull, "wb")
