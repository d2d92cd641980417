"""The corpora that recall is measured on: one registry, one file a suite."""

from __future__ import annotations

from runner.registry import Registry
from runner.suites.locomo import LOCOMO
from runner.suites.longmemeval import LONGMEMEVAL
from runner.suites.sample import SAMPLE
from runner.suites.suite import Suite

SUITES: Registry[Suite] = Registry("suite", {suite.name: suite for suite in (LOCOMO, LONGMEMEVAL, SAMPLE)})

__all__ = ["SUITES", "Suite"]
