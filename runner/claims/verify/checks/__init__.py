"""Every check of `verify`, in order. A new one is one file and one line here."""

from __future__ import annotations

from runner.claims.verify.check import Check
from runner.claims.verify.checks.chance import chance
from runner.claims.verify.checks.commit import commit
from runner.claims.verify.checks.complete import complete
from runner.claims.verify.checks.corpus import corpus
from runner.claims.verify.checks.gates import gates
from runner.claims.verify.checks.gold import gold
from runner.claims.verify.checks.header import header
from runner.claims.verify.checks.history import history
from runner.claims.verify.checks.manifest import manifest
from runner.claims.verify.checks.metrics import metrics
from runner.claims.verify.checks.page import page
from runner.claims.verify.checks.protocol import protocol
from runner.claims.verify.checks.questions import questions
from runner.claims.verify.checks.ranked import ranked
from runner.claims.verify.checks.raw import raw
from runner.claims.verify.checks.report import report
from runner.claims.verify.checks.schema import schema
from runner.claims.verify.checks.timings import timings
from runner.claims.verify.checks.verdict import verdict
from runner.registry import Registry

_ORDER = (
    Check("complete", complete),
    Check("manifest", manifest),
    Check("schema", schema),
    Check("history", history),
    Check("commit", commit),
    Check("protocol", protocol),
    Check("header", header),
    Check("raw", raw),
    Check("metrics", metrics),
    Check("report", report),
    Check("page", page),
    Check("gates", gates),
    Check("verdict", verdict),
    Check("timings", timings),
    Check("corpus", corpus),
    Check("questions", questions),
    Check("gold", gold),
    Check("ranked", ranked),
    Check("chance", chance),
)
CHECKS: Registry[Check] = Registry("check", {check.name: check for check in _ORDER})
