"""Who signed: a name of an allowed-signers file, which is the reader's own list of whom to believe."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from runner.escaping import plain
from runner.places import ROOT
from runner.sign.keygen import NAMESPACE, keygen, laid_out, reason

ALLOWED = ROOT / "benchmarks" / "allowed_signers"  # whom this repository believes, where it has such a list
FINGERPRINT = re.compile(r"\bSHA256:[\w+/]+")


class Forged(Exception):
    """The signature does not hold; the message says why."""


@dataclass(frozen=True, slots=True)
class Signed:
    """The fingerprint of the key that signed; `names` are those of the list that it belongs to."""

    fingerprint: str
    names: tuple[str, ...]


def signed_by(content: bytes, signature: bytes, allowed: Path | None, namespace: str = NAMESPACE) -> Signed:
    """Who signed these bytes for the namespace; without a list of signers only with which key.

    Raises Forged where the signature is not of these bytes, or its key is of nobody in the list now, and
    SigningError where there is no ssh-keygen.
    """
    with laid_out(signature) as path:
        done = keygen("check-novalidate", "-n", namespace, "-s", path, data=content)
        found = FINGERPRINT.search(done.stdout.decode(errors="replace"))
        if done.returncode or not found:
            raise Forged(f"it is no signature of these bytes for {namespace} (ssh-keygen: {reason(done)})")
        if allowed is None:
            return Signed(found[0], ())
        names = _names(content, path, allowed, namespace)
    if not names:
        raise Forged(f"its key {found[0]} is of no signer of {allowed.name} who may sign for {namespace}")
    return Signed(found[0], names)


def _names(content: bytes, path: Path, allowed: Path, namespace: str) -> tuple[str, ...]:
    """Each name of the key for which the signature holds: the list may bound namespaces and days."""
    listed = keygen("find-principals", "-s", path, "-f", allowed).stdout.decode(errors="replace").splitlines()
    options = ("-n", namespace, "-s", path, "-f", allowed)
    holding = [name for name in listed if not keygen("verify", *options, "-I", name, data=content).returncode]
    return tuple(map(plain, holding))
