"""The corpora that recall is measured on. Each suite is one file, and one line here."""

from __future__ import annotations

from pgmnemo.registry import Parts
from runner.protocol.datasets.suite import Suite

SUITES: Parts[Suite] = Parts(
    "suite",
    {
        "locomo": "runner.protocol.datasets.locomo:LOCOMO",
        "longmemeval": "runner.protocol.datasets.longmemeval:LONGMEMEVAL",
        "sample": "runner.protocol.datasets.sample:SAMPLE",
        "longmemeval-m": "runner.protocol.datasets.longmemeval:LONGMEMEVAL_M",
        "realtalk": "runner.protocol.datasets.realtalk:REALTALK",
        "beam": "runner.protocol.datasets.beam:BEAM",
        "beam-500k": "runner.protocol.datasets.beam:BEAM_500K",
        "lifebench": "runner.protocol.datasets.lifebench:LIFEBENCH",
        "lifebench-zh": "runner.protocol.datasets.lifebench:LIFEBENCH_ZH",
        "knowme": "runner.protocol.datasets.knowme:KNOWME",
        "convomem": "runner.protocol.datasets.convomem:CONVOMEM",
        "membench": "runner.protocol.datasets.membench:MEMBENCH",
        "file": "runner.protocol.datasets.file:FILE",
    },
)

__all__ = ["SUITES", "Suite"]
