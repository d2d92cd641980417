"""The corpora that recall is measured on. One file a suite, and one line here."""

from __future__ import annotations

from pgmnemo.registry import Parts
from runner.protocol.suites.suite import Suite

SUITES: Parts[Suite] = Parts(
    "suite",
    {
        "locomo": "runner.protocol.suites.locomo:LOCOMO",
        "longmemeval": "runner.protocol.suites.longmemeval:LONGMEMEVAL",
        "sample": "runner.protocol.suites.sample:SAMPLE",
        "longmemeval-m": "runner.protocol.suites.longmemeval:LONGMEMEVAL_M",
        "realtalk": "runner.protocol.suites.realtalk:REALTALK",
        "beam": "runner.protocol.suites.beam:BEAM",
        "beam-500k": "runner.protocol.suites.beam:BEAM_500K",
        "convomem": "runner.protocol.suites.convomem:CONVOMEM",
        "membench": "runner.protocol.suites.membench:MEMBENCH",
        "file": "runner.protocol.suites.file:FILE",
    },
)

__all__ = ["SUITES", "Suite"]
