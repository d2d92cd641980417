"""Compare two versions of the extension that are run on the spot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runner.database.releases import SQL_FOLDER
from runner.database.server_files import check_release
from runner.pipeline import run
from runner.progress import QUIET, Progress
from runner.request import Request


def run_versions(
    before: str,
    after: str,
    request: Request,
    *,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> tuple[Path, Path]:
    """Make the same run of both versions; their results folders.

    Raises what a run raises, and for a version that does not exist before either is run.
    """
    requests = [replace(request, version=version) for version in (before, after)]
    for each in requests:
        check_release(sql, each.number)
    first, second = (run(each, progress=progress, sql=sql).folder for each in requests)
    return first, second
