"""The check of a run's signature."""

from __future__ import annotations

from runner.errors import SigningError
from runner.runs.manifest import MANIFEST, SIGNATURE
from runner.verification.evidence import Evidence, NotAsked, Wrong
from runner.verification.sign.keygen import Forged, signed_by


def signature(evidence: Evidence) -> str:
    """Check the signature beside the manifest against the list of signers; a run may be unsigned."""
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
    return f"signed by {', '.join(found.names)}; the key is {found.fingerprint}"
