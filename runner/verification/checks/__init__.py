"""The checks of `verify`, in order. A new check is a function in one of these files, and one line here."""

from __future__ import annotations

from pgmnemo.registry import Registry
from runner.verification.checks.files import complete, manifest, page, report, schema
from runner.verification.checks.lines import reranks, rewrites, timings
from runner.verification.checks.rankings import controls, metrics, questions, ranked, raw
from runner.verification.checks.record import corpus, record
from runner.verification.checks.repository import code, commit, history
from runner.verification.checks.rerun import rerun
from runner.verification.checks.scores import scores
from runner.verification.checks.signed import signature
from runner.verification.context import Check, RunContext

_ORDER = (
    complete, manifest, schema, history, commit, signature, code, record, raw, scores, metrics,
    report, page, timings, reranks, rewrites, corpus, questions, ranked, controls, rerun,
)  # fmt: skip
CHECKS: Registry[Check[RunContext]] = Registry(
    "check", {look.__name__: Check(look.__name__, look) for look in _ORDER}
)
