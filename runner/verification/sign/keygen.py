"""SSH signatures, made and checked by ssh-keygen as git uses it (`man ssh-keygen`, `-Y`).

A signer is a name of an allowed-signers file, the reader's own list of trusted signers.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pgmnemo.escaping import escape_control_chars
from runner.errors import SigningError
from runner.paths import ROOT

NAMESPACE = "run@pgmnemo"  # a signature for anything else, such as a commit, does not count for a run
PROGRAM = "ssh-keygen"
PATIENCE = 60  # seconds; a key on a token may wait for a touch


def keygen(verb: str, *options: str | Path, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `ssh-keygen -Y VERB` on `data` and return its result; it never prompts.

    Raises SigningError if ssh-keygen is missing or does not finish in time.
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
    """Return the reason why ssh-keygen refused: the first line of its message after any banner."""
    said = done.stderr.decode(errors="replace").splitlines()
    return next(
        (escape_control_chars(line).strip() for line in said if line.strip(" @")[:7] not in ("", "WARNING")),
        "no reason",
    )


@contextmanager
def signature_file(signature: bytes) -> Iterator[Path]:
    """Yield a temporary file with the signature, so that ssh-keygen checks the bytes that were read."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "signature"
        path.write_bytes(signature)
        yield path


ALLOWED = ROOT / "benchmarks" / "allowed_signers"  # the trusted signers of this repository, if it has a list
FINGERPRINT = re.compile(r"\bSHA256:[\w+/]+")


class ForgedSignature(Exception):
    """An error: the signature is invalid. The message says why."""


@dataclass(frozen=True, slots=True)
class Signer:
    """The fingerprint of the key that signed; `names` are the names of this key in the list."""

    fingerprint: str
    names: tuple[str, ...]


def signed_by(content: bytes, signature: bytes, allowed: Path | None, namespace: str = NAMESPACE) -> Signer:
    """Return the signer of `content` for the namespace; without a list of signers only the key.

    Raises ForgedSignature if the signature is not of these bytes or its key is not in the list now, and
    SigningError if ssh-keygen is missing.
    """
    with signature_file(signature) as path:
        done = keygen("check-novalidate", "-n", namespace, "-s", path, data=content)
        found = FINGERPRINT.search(done.stdout.decode(errors="replace"))
        if done.returncode or not found:
            raise ForgedSignature(
                f"it is no signature of these bytes for {namespace} (ssh-keygen: {reason(done)})"
            )
        if allowed is None:
            return Signer(found[0], ())
        names = _names(content, path, allowed, namespace)
    if not names:
        raise ForgedSignature(
            f"its key {found[0]} is of no signer of {allowed.name} who may sign for {namespace}"
        )
    return Signer(found[0], names)


def _names(content: bytes, path: Path, allowed: Path, namespace: str) -> tuple[str, ...]:
    """Return the names under which the list has the key, with the namespace and the date checked."""
    listed = keygen("find-principals", "-s", path, "-f", allowed).stdout.decode(errors="replace").splitlines()
    options = ("-n", namespace, "-s", path, "-f", allowed)
    holding = [name for name in listed if not keygen("verify", *options, "-I", name, data=content).returncode]
    return tuple(map(escape_control_chars, holding))
