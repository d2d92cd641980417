"""`python -m runner SUITE`: make a run, or check only its gates with --dry-run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.paths import SQL_FOLDER
from runner.bench.options import RUN, RunOptions
from runner.bench.request import Request
from runner.errors import EmptyAnswersError, SystemFault
from runner.options import Quiet


def suite_command(suite: str, sql: Path = SQL_FOLDER) -> Callable[..., int]:
    """Return the command of one suite."""

    def command(
        *,
        options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),  # noqa: B008
        dry_run: Annotated[bool, RUN] = False,
        repeat: Annotated[int, RUN] = 1,
        quiet: Annotated[Quiet, RUN] = False,
    ) -> int:
        """Make a run; `cli` adds what is measured.

        Args:
            dry_run: check the gates and write nothing; exits with 0 or 1
            repeat: make the run N times; exits with 1 if two differ by more than the protocol's bands
        """
        request = Request.of(suite, options)
        return _dry(request, quiet, sql) if dry_run else _bench(request, repeat, quiet, sql)

    return command


def _dry(request: Request, quiet: bool, sql: Path) -> int:
    """Print the result of each gate; return 0, or 1 if a gate fails."""
    from pgmnemo.progress import Progress
    from pgmnemo.terminal import say
    from runner.bench.pipeline import dry_run
    from runner.markdown import print_markdown
    from runner.protocol.gates import overall_verdict
    from runner.records import Verdict
    from runner.report import gate_table, remedies

    results = dry_run(request, progress=Progress(quiet=quiet), sql=sql)
    verdict = overall_verdict(results)
    print_markdown(gate_table(results))
    say(*remedies(results))
    say(f"dry run: the verdict would be {verdict}; nothing was run or written")
    return int(verdict is Verdict.BLOCKED)


def _bench(request: Request, times: int, quiet: bool, sql: Path) -> int:
    """Make the runs and print a summary of each; return 0, or 1 if two runs differ by more than a band.

    After the summaries, raises SystemFault if a requested system has no ranking, and EmptyAnswersError if
    every answer of a system was empty.
    """
    from pgmnemo.progress import Progress
    from pgmnemo.terminal import say
    from runner.bench.repeat import repeat, summary_lines
    from runner.markdown import print_markdown
    from runner.report import (
        PROVES_INSTALLATION,
        compare_baseline_strategies,
        compare_with_components,
        summary,
    )
    from runner.runs.folder import is_local
    from runner.runs.results import REPORT

    progress = Progress(quiet=quiet)
    repeated = repeat(request, times, progress=progress, sql=sql)
    for outcome in repeated.outcomes:
        print_markdown(summary(outcome.metrics, outcome.run))
        if outcome.run.corpus.citable:
            for deviation in outcome.run.deviations:
                say(f"deviation: {deviation}")
            say(f"legs: {compare_with_components(outcome.metrics, outcome.run)}")
        else:
            say(PROVES_INSTALLATION)
        for arm in outcome.run.arms:
            if arm.failed:
                say(f"{arm.name}: {arm.failed}")
        for name, legs in compare_baseline_strategies(outcome.metrics, outcome.run).items():
            say(f"legs of {name}: {legs}")
        say(f"artefacts: {outcome.folder}")
        if is_local(outcome.folder):
            place = quote(str(outcome.folder))
            say(f"not kept: `python -m runner history add {place}` moves that folder to results/ and logs it")
    if (stored := repeated.outcomes[-1].run.database) and stored.origin != "embedded":
        name, role = stored.database, stored.role
        progress.say(
            f"on the server stay the database {name}, without rows, and the role {role} for the next run; "
            f"DROP DATABASE {name} and DROP ROLE {role} take them away"
        )
    for line in summary_lines(repeated) if times > 1 else ():
        say(line)
    if not repeated.within:
        return 1
    for outcome in repeated.outcomes:
        if failed := [arm.name for arm in outcome.run.arms if arm.failed]:
            raise SystemFault(
                f"{' and '.join(failed)} failed and has no ranking beside {outcome.run.system}; mend what "
                f"{outcome.folder / REPORT} says of it, or leave it out of --baselines"
            )
        if empty := [arm.name for arm in outcome.run.arms if arm.is_silent]:
            raise EmptyAnswersError(
                f"every answer of {' and '.join(empty)} was empty, so that its figures are 0 in "
                f"{outcome.folder / REPORT}; see whether it stored the lessons that it was given"
            )
    return 0
