"""Who signed the manifest, and with it every file of the run?"""

from __future__ import annotations

from runner.errors import SigningError
from runner.runs.manifest import MANIFEST, SIGNATURE
from runner.sign.signer import Forged, signed_by
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence

SIGNED = "signed by "


def signature(evidence: Evidence) -> str:
    """The signature beside the manifest, by a key of the list of signers; a run may have none."""
    if not (evidence.folder / SIGNATURE).is_symlink() and not (evidence.folder / SIGNATURE).exists():
        raise NotAsked(f"unsigned: there is no {SIGNATURE}")
    try:
        found = signed_by(evidence.content(MANIFEST), evidence.content(SIGNATURE), evidence.allowed_signers)
    except Forged as end:
        raise Wrong(f"{SIGNATURE} does not hold: {end}") from None
    except SigningError as end:
        raise NotAsked(f"who signed is not known: {end}") from None
    if not found.names:
        raise NotAsked(
            f"{SIGNATURE} is of the key {found.fingerprint}; whose it is says --allowed-signers with a list"
        )
    return f"{SIGNED}{', '.join(found.names)}; the key is {found.fingerprint}"
