"""`compare A B` compares two runs, or makes runs of two versions; `gate` verifies and compares, for CI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.server_files import check_release
from pgmnemo.progress import Progress
from pgmnemo.terminal import say
from runner.bench.options import RunOptions
from runner.bench.pipeline import run
from runner.bench.request import Request
from runner.commands.compare.compare_runs import compare
from runner.commands.compare.release_gate import gate
from runner.commands.compare.text import append_summary, comparison_text, gate_text
from runner.markdown import print_markdown
from runner.options import Despite, MaxDrop, Quiet, Strict, parse_limits
from runner.runs.canonical import tabular


def compare_command(
    *folders: Path,
    despite: Despite = (),
    max_drop: MaxDrop = [],  # noqa: B006
    strict: Strict = False,
    json: bool = False,
    versions: tuple[str, str] | None = None,
    suite: str | None = None,
    options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Compare two runs question by question, with a statistical verdict.

    Exits with 0 if the candidate has improved or is equivalent, or if the result is inconclusive; with 1 if
    it has regressed.

    Args:
        folders: results folders of the baseline and of the candidate
        json: print the comparison as JSON
        versions: versions of the baseline and the candidate: run both first, with the options of a run
        suite: suite to run both versions on
    """
    before, after = _folders(folders, versions, suite, options, quiet)
    comparison = compare(before, after, despite=despite, max_drop=parse_limits(max_drop))
    if json:
        say(tabular(comparison.document(), ("rows", "questions", "changes")), end="")
    else:
        print_markdown(comparison_text(comparison))
    return comparison.exit_code(strict=strict)


def _folders(
    folders: Sequence[Path],
    versions: Sequence[str] | None,
    suite: str | None,
    options: RunOptions,
    quiet: bool,
) -> Sequence[Path]:
    if versions is None:
        if len(folders) != 2:
            raise UsageError(
                f"compare takes two results folders, not {len(folders)}, or --versions and --suite"
            )
        return folders
    if folders:
        raise UsageError("compare takes two results folders or --versions, not both")
    if suite is None:
        raise UsageError("--versions needs a --suite to run both on")
    return _run(versions, Request.of(suite, options), quiet)


def _run(versions: Sequence[str], request: Request, quiet: bool) -> Sequence[Path]:
    """Make the same run of both versions; raise an error for a missing version before either run starts."""
    requests = [replace(request, version=version) for version in versions]
    for each in requests:
        check_release(SQL_FOLDER, each.number)
    return [run(each, progress=Progress(quiet=quiet)).folder for each in requests]


def gate_command(
    candidate: Path,
    /,
    *,
    baseline: Path,
    despite: Despite = (),
    max_drop: MaxDrop = [],  # noqa: B006
    strict: Strict = False,
    legs: bool = False,
) -> int:
    """Verify a run and a baseline and compare them, for a release job: one exit code, one summary.

    The summary is also appended to the file that GITHUB_STEP_SUMMARY names, if it is set.

    Args:
        candidate: results folder, or a folder of runs, of which the newest is used
        baseline: results folder, or a folder of runs, of which the newest under equal conditions is used
        legs: also fail if the candidate's hybrid is below its keyword or vector retriever
    """
    gated = gate(
        baseline, candidate, despite=despite, max_drop=parse_limits(max_drop), strict=strict, legs=legs
    )
    text = gate_text(gated)
    say(text, end="")
    append_summary(text)
    return gated.exit_code
