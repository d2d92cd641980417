"""The public names of the benchmark, each from where it is written; `runner` hands them on."""

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.progress import Progress
from runner.bench.conclusion import Outcome
from runner.bench.pipeline import dry_run, run
from runner.bench.repeat import Repeated, repeat
from runner.bench.request import Request
from runner.commands.cite import Citation, cite
from runner.commands.compare import Comparison, Gated, compare, gate
from runner.commands.history import log_deviation, log_run
from runner.commands.leaderboard import Leaderboard, leaderboard
from runner.commands.page import render_report
from runner.commands.score import Stated, score
from runner.errors import RunnerError
from runner.stages.answers import Answering, AnswerOptions, answer
from runner.verification import Verification, verify
from runner.verification.rescore import Rescored, rescore

__all__ = [
    "AnswerOptions",
    "Answering",
    "Citation",
    "Comparison",
    "EmbedderOptions",
    "Gated",
    "Leaderboard",
    "Outcome",
    "Progress",
    "Repeated",
    "Request",
    "Rescored",
    "RunnerError",
    "Stated",
    "Verification",
    "answer",
    "cite",
    "compare",
    "dry_run",
    "gate",
    "leaderboard",
    "log_deviation",
    "log_run",
    "render_report",
    "repeat",
    "rescore",
    "run",
    "score",
    "verify",
]
