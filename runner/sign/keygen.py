"""ssh-keygen, which makes and checks SSH signatures, as git has it do (`man ssh-keygen`, `-Y`)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.errors import SigningError
from runner.escaping import plain

NAMESPACE = "run@pgmnemo"  # a signature that was made for anything else, such as a commit, is none of a run
RERUN_NAMESPACE = (
    "rerun@pgmnemo"  # of the record of a re-run: who signs a run vouches for no re-run, nor the reverse
)
PROGRAM = "ssh-keygen"
PATIENCE = 60  # seconds; a key on a token may wait for a touch


def keygen(verb: str, *options: str | Path, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """What `ssh-keygen -Y VERB` says to `data`; it never asks a question.

    Raises SigningError where there is no ssh-keygen, or where it does not answer in time.
    """
    environ = {**os.environ, "LC_ALL": "C", "SSH_ASKPASS_REQUIRE": "never"}
    words = [PROGRAM, "-Y", verb, *map(str, options)]
    try:
        return subprocess.run(
            words, input=data, env=environ, capture_output=True, timeout=PATIENCE, start_new_session=True
        )
    except OSError:
        raise SigningError(f"{PROGRAM} cannot be run: install OpenSSH's client, 8.9 or newer") from None
    except subprocess.TimeoutExpired:
        raise SigningError(f"{PROGRAM} did not answer within {PATIENCE} seconds: try again") from None


def reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Why ssh-keygen refused, in its own words: the first line that is no frame of a warning."""
    said = done.stderr.decode(errors="replace").splitlines()
    return next(
        (plain(line).strip() for line in said if line.strip(" @")[:7] not in ("", "WARNING")), "no reason"
    )


@contextmanager
def laid_out(signature: bytes) -> Iterator[Path]:
    """The signature in a file of its own, so that what is checked is what was read."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "signature"
        path.write_bytes(signature)
        yield path
