"""What the command line takes: every command and option; runner/README.md documents them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NoReturn

from runner.claims import report, rescore
from runner.claims.cite import command as cite
from runner.claims.compare import command as compare
from runner.claims.gate import command as gate
from runner.claims.history import command as history
from runner.claims.leaderboard import command as leaderboard
from runner.claims.lint import command as lint
from runner.claims.verify import command as verify
from runner.database.releases import DEFAULT_VERSION
from runner.embedders import EMBEDDERS
from runner.errors import UsageError
from runner.passages import command as passages
from runner.perf import command as perf
from runner.request import NO_EMBEDDER
from runner.suites import SUITES
from runner.systems import MODES
from runner.tune import command as tune

FETCHED = ("locomo", "longmemeval")
QUIET = {"action": "store_true", "help": "say nothing but the result"}


def parser() -> argparse.ArgumentParser:
    """One command for each suite, and `fetch`; `command` tells the two kinds apart."""
    top = _Parser(
        prog="python -m runner",
        description="Measure the recall of a version of pgmnemo exactly as PROTOCOL.md says.",
    )
    commands = top.add_subparsers(dest="suite", required=True, metavar="COMMAND")
    for name, suite in SUITES.items():
        command = commands.add_parser(
            name, help=f"run {suite.title}", description=f"Measure recall on {suite.title}."
        )
        for option, settings in _options(name).items():
            command.add_argument(option, **settings)
        command.set_defaults(command="bench")
    _add_fetch(commands)
    verify.add_parser(commands)
    rescore.add_parser(commands)
    report.add_parser(commands)
    compare.add_parser(commands)
    gate.add_parser(commands)
    cite.add_parser(commands)
    leaderboard.add_parser(commands)
    lint.add_parser(commands)
    history.add_parser(commands)
    passages.add_parser(commands)
    perf.add_parser(commands)
    tune.add_parser(commands)
    return top


class _Parser(argparse.ArgumentParser):
    """Wrong use is one sentence, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def _options(suite: str) -> dict[str, dict[str, Any]]:
    levels = SUITES[suite].granularities
    text, path, folder = {"metavar": "TEXT", "default": ""}, {"type": Path, "metavar": "PATH"}, "DIR"
    return {
        "--version": {
            "default": DEFAULT_VERSION, "metavar": "VERSION",
            "help": f"version of the extension (default: {DEFAULT_VERSION})",
        },
        "--data": {**path, "help": "the corpus file or its folder"},
        "--dsn": {
            "metavar": "DSN",
            "help": "PostgreSQL to use (default: PGMNEMO_DSN, the compose service, or an embedded one)",
        },
        "--embedder": {
            "metavar": "NAME",
            "help": f"{', '.join(EMBEDDERS)}, or {NO_EMBEDDER} for a keyword-only run (default: the "
            "suite's canonical one)",
        },
        "--mode": {
            "metavar": "MODE",
            "help": f"legs of recall: {', '.join(MODES)} (default: hybrid; keyword without an embedder)",
        },
        "--granularity": {
            "metavar": "LEVEL", "help": f"what a lesson is: {', '.join(levels)} (default: {levels[0]})",
        },
        "--k": {
            "type": _numbers, "default": (), "metavar": "K,K,…", "help": "cutoffs (default: the protocol's)",
        },
        "--limit": {"type": int, "metavar": "N", "help": "ask the first N questions only"},
        "--types": {
            "type": _names, "default": (), "metavar": "T,T,…", "help": "ask these question types only",
        },
        "--allow-unregistered-corpus": {
            "action": "store_true", "help": "let a corpus through that the protocol does not register",
        },
        "--dry-run": {
            "action": "store_true", "help": "check the gates and write nothing; exits with 0 or 1",
        },
        "--output": {
            **path, "metavar": folder, "help": "folder for results (default: benchmarks/<suite>/results)",
        },
        "--repeat": {
            "type": int, "default": 1, "metavar": "N",
            "help": "make the run N times; exits with 1 if two differ by more than the protocol's bands",
        },
        "--resume": {
            **path, "metavar": folder, "help": "complete the interrupted run in this .partial folder",
        },
        "--cache": {
            **path, "metavar": folder, "help": "folder of the embedding cache (default: the user's own)",
        },
        "--model": {
            "metavar": "MODEL",
            "help": "local folder of the embedder's model; for the embedder endpoint, the model's name",
        },
        "--endpoint-url": {"metavar": "URL", "help": "OpenAI-compatible service of the embedder endpoint"},
        "--dimensions": {
            "type": int, "metavar": "N", "help": "width of the vectors, for the embedders endpoint and hash",
        },
        "--query-prefix": {**text, "help": "put before every question before it is embedded"},
        "--document-prefix": {**text, "help": "put before every text before it is embedded"},
        "--batch-size": {
            "type": int, "metavar": "N",
            "help": "texts embedded at once (default: the protocol's, or the model's)",
        },
        "--quiet": QUIET,
    }  # fmt: skip


def _add_fetch(commands: Any) -> None:
    words = "download a registered corpus and check its hash"
    fetch = commands.add_parser("fetch", help=words, description=f"{words[0].upper()}{words[1:]}.")
    fetch.add_argument("suite", choices=FETCHED, metavar="CORPUS", help=" or ".join(FETCHED))
    fetch.add_argument(
        "--output", type=Path, metavar="DIR", help="folder for it (default: the user's data folder)"
    )
    fetch.add_argument("--quiet", **QUIET)
    fetch.set_defaults(command="fetch")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"--k takes whole numbers with commas between, such as 1,5,10, not {text!r}"
        ) from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
