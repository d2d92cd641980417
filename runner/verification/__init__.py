"""`verify`: whether a results folder is unchanged since its run, and its numbers follow from the raw
rankings.
"""

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
