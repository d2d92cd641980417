"""`verify`: is a results folder what its run left, and do its numbers follow from its raw rankings?"""

from __future__ import annotations

from runner.verification.checks import CHECKS
from runner.verification.context import Check, CheckResult, CheckStatus
from runner.verification.verification import Verification, VerificationOutcome, summary_lines, verify

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "CheckStatus",
    "Verification",
    "VerificationOutcome",
    "summary_lines",
    "verify",
]
