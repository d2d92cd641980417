"""Every check of `verify`, in order. A new one is a function in one of these files, and one line here."""

from __future__ import annotations

from runner.registry import Registry
from runner.verify.check import Check
from runner.verify.checks.agree import agree
from runner.verify.checks.components import components
from runner.verify.checks.corpus import chance, corpus, gold, questions, ranked
from runner.verify.checks.files import complete, manifest, page, report, schema
from runner.verify.checks.order import order
from runner.verify.checks.pinned import arms, identity, settings, views
from runner.verify.checks.rankings import metrics, raw, timings
from runner.verify.checks.record import gates, header, protocol, verdict
from runner.verify.checks.repository import code, commit, history
from runner.verify.checks.reranks import reranks
from runner.verify.checks.rerun import rerun
from runner.verify.checks.reruns import reruns
from runner.verify.checks.rewrites import rewrites
from runner.verify.checks.scores import score
from runner.verify.checks.signature import signature
from runner.verify.evidence import Evidence

_ORDER = (
    complete, manifest, schema, history, commit, signature, reruns, protocol, header, views, settings,
    identity, arms, components, code, raw, score, order, agree, metrics, report, page, gates,
    verdict, timings, reranks, rewrites, corpus, questions, gold, ranked, chance,
    rerun,
)  # fmt: skip
CHECKS: Registry[Check[Evidence]] = Registry(
    "check", {look.__name__: Check(look.__name__, look) for look in _ORDER}
)
