"""The check of a run's signature."""

from __future__ import annotations

from runner.errors import SigningError
from runner.runs.manifest import MANIFEST, SIGNATURE
from runner.verification.context import CheckFailed, CheckSkipped, RunContext
from runner.verification.sign.keygen import ForgedSignature, signed_by


def signature(context: RunContext) -> str:
    """Check the signature of the manifest against the list of signers; a run may be unsigned."""
    if not (context.folder / SIGNATURE).is_symlink() and not (context.folder / SIGNATURE).exists():
        raise CheckSkipped(f"unsigned: there is no {SIGNATURE}")
    try:
        found = signed_by(context.content(MANIFEST), context.content(SIGNATURE), context.allowed_signers)
    except ForgedSignature as end:
        raise CheckFailed(f"{SIGNATURE} does not hold: {end}") from None
    except SigningError as end:
        raise CheckSkipped(f"who signed is not known: {end}") from None
    if not found.names:
        raise CheckSkipped(
            f"{SIGNATURE} is of the key {found.fingerprint}; whose it is says --allowed-signers with a list"
        )
    return f"signed by {', '.join(found.names)}; the key is {found.fingerprint}"
