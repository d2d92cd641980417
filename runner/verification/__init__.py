"""`verify`: is a results folder what its run left, and do its numbers follow from its raw rankings?"""

from __future__ import annotations

from runner.verification.checks import CHECKS
from runner.verification.evidence import Answer, Check, Found
from runner.verification.verification import Outcome, Verification, lines, verify

__all__ = ["CHECKS", "Answer", "Check", "Found", "Outcome", "Verification", "lines", "verify"]
