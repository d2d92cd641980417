"""`sign`: an SSH signature over a run's manifest, and who made one that is there."""

from runner.verification.sign.keygen import NAMESPACE, RERUN_NAMESPACE, signed_by
from runner.verification.sign.signing import sign

__all__ = ["NAMESPACE", "RERUN_NAMESPACE", "sign", "signed_by"]
