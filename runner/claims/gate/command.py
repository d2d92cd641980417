"""`python -m runner gate --baseline DIR CANDIDATE`: what a release job runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.claims.compare.command import add_decision_options

NAME = "gate"


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "verify a run and a baseline and compare them, for a release job: one exit code, one summary"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument(
        "candidate", type=Path, metavar="DIR", help="results folder, or a folder of them: the newest"
    )
    parser.add_argument(
        "--baseline",
        type=Path,
        required=True,
        metavar="DIR",
        help="likewise, to compare with: the newest like the candidate",
    )
    add_decision_options(parser)
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Print the summary, and append it to GITHUB_STEP_SUMMARY where that is set; 0 passed, 1 failed."""
    from runner.claims.gate.gating import gate  # the parser alone loads no stage
    from runner.claims.gate.summary import append_summary, markdown

    gated = gate(
        options.baseline,
        options.candidate,
        despite=options.despite,
        max_drop=dict(options.max_drop),
        strict=options.strict,
    )
    text = markdown(gated)
    print(text, end="")
    append_summary(text)
    return gated.exit_code
