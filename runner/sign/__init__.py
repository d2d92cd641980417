"""`sign`: an SSH signature over a run's manifest, and who made one that is there."""

from runner.sign.keygen import NAMESPACE, RERUN_NAMESPACE
from runner.sign.signer import signed_by
from runner.sign.signing import sign

__all__ = ["NAMESPACE", "RERUN_NAMESPACE", "sign", "signed_by"]
