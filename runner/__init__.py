"""The recall benchmark of pgmnemo, from Python: `runner.run(runner.Request("sample", embedder="minilm"))`.

The names are those of the command line. Importing this package is cheap: each name loads its module when
it is first used. Python must have been started with PYTHONHASHSEED=42.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.bench.conclusion import Outcome
    from runner.bench.pipeline import dry_run, run
    from runner.bench.repeat import Repeated, repeat
    from runner.bench.request import Request
    from runner.cite import Citation, cite
    from runner.compare import Comparison, Gated, compare, gate
    from runner.embedders import EmbedderOptions
    from runner.errors import RunnerError
    from runner.history import log_deviation, log_run
    from runner.leaderboard import Leaderboard, leaderboard
    from runner.lint import Report, lint
    from runner.page import render_report
    from runner.progress import Progress
    from runner.verify import Verification, verify
    from runner.verify.rescore import Rescored, rescore

HOMES = {
    "Citation": "runner.cite",
    "Comparison": "runner.compare",
    "EmbedderOptions": "runner.embedders",
    "Gated": "runner.compare",
    "Leaderboard": "runner.leaderboard",
    "Outcome": "runner.bench.conclusion",
    "Progress": "runner.progress",
    "Repeated": "runner.bench.repeat",
    "Report": "runner.lint",
    "Request": "runner.bench.request",
    "Rescored": "runner.verify.rescore",
    "RunnerError": "runner.errors",
    "Verification": "runner.verify",
    "cite": "runner.cite",
    "compare": "runner.compare",
    "dry_run": "runner.bench.pipeline",
    "gate": "runner.compare",
    "leaderboard": "runner.leaderboard",
    "repeat": "runner.bench.repeat",
    "lint": "runner.lint",
    "log_deviation": "runner.history",
    "log_run": "runner.history",
    "render_report": "runner.page",
    "rescore": "runner.verify.rescore",
    "run": "runner.bench.pipeline",
    "verify": "runner.verify",
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
    """The public name, from its module; a package of that name is called as its function (verb.py)."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(HOMES[name])
    return globals().get(name) or getattr(home, name)
