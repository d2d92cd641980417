"""The recall benchmark of pgmnemo, from Python: `runner.run(runner.Request("sample", embedder="minilm"))`.

The names are those of the command line. Importing this package is cheap: each name loads its module when
it is first used. Python must have been started with PYTHONHASHSEED=42.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.claims.cite import Citation, cite
    from runner.claims.compare import Comparison, compare
    from runner.claims.gate import Gated, gate
    from runner.claims.history import log_deviation, log_run
    from runner.claims.leaderboard import Leaderboard, leaderboard
    from runner.claims.lint import Report, lint
    from runner.claims.repeat import Repeated, repeat
    from runner.claims.report import render_report
    from runner.claims.rescore import Rescored, rescore
    from runner.claims.verify import Verification, verify
    from runner.conclusion import Outcome
    from runner.embedders import EmbedderOptions
    from runner.errors import RunnerError
    from runner.pipeline import dry_run, run
    from runner.progress import Progress
    from runner.request import Request

HOMES = {
    "Citation": "runner.claims.cite",
    "Comparison": "runner.claims.compare",
    "EmbedderOptions": "runner.embedders",
    "Gated": "runner.claims.gate",
    "Leaderboard": "runner.claims.leaderboard",
    "Outcome": "runner.conclusion",
    "Progress": "runner.progress",
    "Repeated": "runner.claims.repeat",
    "Report": "runner.claims.lint",
    "Request": "runner.request",
    "Rescored": "runner.claims.rescore",
    "RunnerError": "runner.errors",
    "Verification": "runner.claims.verify",
    "cite": "runner.claims.cite",
    "compare": "runner.claims.compare",
    "dry_run": "runner.pipeline",
    "gate": "runner.claims.gate",
    "leaderboard": "runner.claims.leaderboard",
    "repeat": "runner.claims.repeat",
    "lint": "runner.claims.lint",
    "log_deviation": "runner.claims.history",
    "log_run": "runner.claims.history",
    "render_report": "runner.claims.report",
    "rescore": "runner.claims.rescore",
    "run": "runner.pipeline",
    "verify": "runner.claims.verify",
}

__all__ = [
    "Citation",
    "Comparison",
    "EmbedderOptions",
    "Gated",
    "Leaderboard",
    "Outcome",
    "Progress",
    "Repeated",
    "Report",
    "Request",
    "Rescored",
    "RunnerError",
    "Verification",
    "cite",
    "compare",
    "dry_run",
    "gate",
    "leaderboard",
    "lint",
    "log_deviation",
    "log_run",
    "render_report",
    "repeat",
    "rescore",
    "run",
    "verify",
]


def __getattr__(name: str) -> Any:
    """The public name, from its module."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
