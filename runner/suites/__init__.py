"""The corpora that recall is measured on. One file a suite, and one line here."""

from __future__ import annotations

from runner.registry import Parts
from runner.suites.suite import Suite

SUITES: Parts[Suite] = Parts(
    "suite",
    {
        "locomo": "runner.suites.locomo:LOCOMO",
        "longmemeval": "runner.suites.longmemeval:LONGMEMEVAL",
        "sample": "runner.suites.sample:SAMPLE",
        "longmemeval-m": "runner.suites.longmemeval:LONGMEMEVAL_M",
        "realtalk": "runner.suites.realtalk:REALTALK",
        "beam": "runner.suites.beam:BEAM",
        "beam-500k": "runner.suites.beam:BEAM_500K",
        "convomem": "runner.suites.convomem:CONVOMEM",
        "membench": "runner.suites.membench:MEMBENCH",
        "file": "runner.suites.file:FILE",
    },
)

__all__ = ["SUITES", "Suite"]
