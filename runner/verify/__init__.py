"""`verify`: is a results folder what its run left, and do its numbers follow from its raw rankings?"""

from __future__ import annotations

from runner.verb import verb
from runner.verify.check import Answer, Check, Found
from runner.verify.checks import CHECKS
from runner.verify.verification import Outcome, Verification, lines, verify

__all__ = ["CHECKS", "Answer", "Check", "Found", "Outcome", "Verification", "lines", "verify"]

verb(__name__)
