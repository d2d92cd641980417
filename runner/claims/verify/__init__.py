"""`verify`: is a results folder what its run left, and do its numbers follow from its raw rankings?"""

from __future__ import annotations

from runner.claims.verify.check import Answer, Check, Found
from runner.claims.verify.checks import CHECKS
from runner.claims.verify.verification import Verification, lines, verify

__all__ = ["CHECKS", "Answer", "Check", "Found", "Verification", "lines", "verify"]
