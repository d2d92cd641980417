"""The recall benchmark of pgmnemo, from Python: `runner.run(runner.Request("sample", embedder="minilm"))`.

The names are those of the command line. Importing this package is cheap: each name loads its module when
it is first used. Python must have been started with PYTHONHASHSEED=42.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.answers import Answering as Answering
    from runner.answers import AnswerOptions as AnswerOptions
    from runner.answers import answer as answer
    from runner.bench.conclusion import Outcome as Outcome
    from runner.bench.pipeline import dry_run as dry_run
    from runner.bench.pipeline import run as run
    from runner.bench.repeat import Repeated as Repeated
    from runner.bench.repeat import repeat as repeat
    from runner.bench.request import Request as Request
    from runner.cite import Citation as Citation
    from runner.cite import cite as cite
    from runner.compare import Comparison as Comparison
    from runner.compare import Gated as Gated
    from runner.compare import compare as compare
    from runner.compare import gate as gate
    from runner.embedders import EmbedderOptions as EmbedderOptions
    from runner.errors import RunnerError as RunnerError
    from runner.history import log_deviation as log_deviation
    from runner.history import log_run as log_run
    from runner.leaderboard import Leaderboard as Leaderboard
    from runner.leaderboard import leaderboard as leaderboard
    from runner.page import render_report as render_report
    from runner.progress import Progress as Progress
    from runner.score import Stated as Stated
    from runner.score import score as score
    from runner.submit import submit as submit
    from runner.verify import Verification as Verification
    from runner.verify import verify as verify
    from runner.verify.rescore import Rescored as Rescored
    from runner.verify.rescore import rescore as rescore

HOMES = {
    name: home
    for home, names in {
        "runner.answers": "AnswerOptions Answering answer",
        "runner.bench.conclusion": "Outcome",
        "runner.bench.pipeline": "dry_run run",
        "runner.bench.repeat": "Repeated repeat",
        "runner.bench.request": "Request",
        "runner.cite": "Citation cite",
        "runner.compare": "Comparison Gated compare gate",
        "runner.embedders": "EmbedderOptions",
        "runner.errors": "RunnerError",
        "runner.history": "log_deviation log_run",
        "runner.leaderboard": "Leaderboard leaderboard",
        "runner.page": "render_report",
        "runner.progress": "Progress",
        "runner.score": "Stated score",
        "runner.submit": "submit",
        "runner.verify": "Verification verify",
        "runner.verify.rescore": "Rescored rescore",
    }.items()
    for name in names.split()
}
"""The module of each public name."""

__all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    """The public name, from its module; a package of that name is called as its function (verb.py)."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(HOMES[name])
    return globals().get(name) or getattr(home, name)
