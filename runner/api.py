"""The public names of the benchmark, imported from the modules that define them. `runner` re-exports them."""

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.progress import Progress
from runner.bench.finish import RunResult
from runner.bench.pipeline import dry_run, run
from runner.bench.repeat import Repeated, repeat
from runner.bench.request import Request
from runner.commands.cite import Citation, cite
from runner.commands.compare import Comparison, GateOutcome, compare, gate
from runner.commands.history import log_deviation, log_run
from runner.commands.leaderboard import Leaderboard, leaderboard
from runner.commands.report_page import render_report
from runner.commands.score import StatedScores, score
from runner.errors import RunnerError
from runner.stages.answers import AnswerOptions, AnswerRun, answer
from runner.verification import Verification, verify
from runner.verification.rescore import Rescored, rescore

__all__ = [
    "AnswerOptions",
    "AnswerRun",
    "Citation",
    "Comparison",
    "EmbedderOptions",
    "GateOutcome",
    "Leaderboard",
    "Progress",
    "Repeated",
    "Request",
    "Rescored",
    "RunResult",
    "RunnerError",
    "StatedScores",
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
