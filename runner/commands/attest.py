"""`python -m runner attest DIR --by NAME`: a run recalled again, and the record of it beside the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pgmnemo.errors import UsageError, os_errors
from pgmnemo.progress import QUIET, Progress
from pgmnemo.terminal import say
from runner.errors import RefusedError
from runner.options import Run
from runner.places import ROOT
from runner.runs.canonical import pretty
from runner.runs.environment import code
from runner.runs.manifest import MANIFEST, MOST, SIGNED, USUAL, Rerun
from runner.runs.reading import Results
from runner.verification import Verification, verify
from runner.verification.sameness import BOUNDS
from runner.verification.sign import RERUN_NAMESPACE, signature_of, whole

NAME = re.compile(r"[^\s,;\"]{1,200}")


def attest_command(
    folder: Run, /, *, by: str, key: Path | None = None, rerun: int = USUAL, corpus: Path | None = None
) -> int:
    """Recall questions of a run again, and record beside it that they came out the same.

    Args:
        by: your name as a list of signers has it, such as you@example.org
        key: private SSH key that signs the record; without one nobody need believe it
        rerun: how many questions to recall again
        corpus: the corpus file or its folder
    """
    say(f"written: {attest(folder, by, key=key, rerun=rerun, corpus=corpus, progress=Progress())}")
    return 0


def attest(
    folder: Path | str,
    by: str,
    *,
    key: Path | str | None = None,
    rerun: int = USUAL,
    corpus: Path | str | None = None,
    progress: Progress = QUIET,
    check: Callable[..., Verification] = verify,
) -> Path:
    """Verify the run in `folder` with `rerun` questions, then write rerun-N.json beside it; its path.

    The record names the arms that were recalled again, and no other.

    `by` is the name under which the `key` stands in a list of signers; without a key the record is unsigned,
    and nobody need believe it. Raises UsageError for no run, no name and where nine records stand,
    RefusedError for a blocked or changed run, where `check` finds a fault, and where rankings, questions or
    gold were not asked.
    """
    if not by.isprintable() or not NAME.fullmatch(by):
        raise UsageError(
            f"--by takes a name as lists of signers have it, such as you@example.org, not {by!r}"
        )
    results = whole(folder)
    target = _free(results.folder)
    found = check(folder, corpus=corpus, rerun=rerun, progress=progress)
    _demand_same(found, folder)
    record = pretty(_record(results, by, rerun, found.arms).document()).encode()
    signature = None if key is None else signature_of(record, key, RERUN_NAMESPACE)
    with os_errors(f"{target} cannot be written ({{why}}): make the folder writable"):
        if signature is not None:
            target.with_name(f"{target.name}{SIGNED}").write_bytes(signature)
        with target.open("xb") as file:
            file.write(record)
    return target


def _demand_same(found: Verification, folder: Path | str) -> None:
    found.demand_intact(folder)
    if found.unasked:
        raise RefusedError(f"{folder} was not recalled again: {found.unasked[-1].sentence}")


def _record(results: Results, by: str, rerun: int, arms: tuple[str, ...]) -> Rerun:
    asked = len({line["question"] for line in results.raw})
    return Rerun(
        manifest_sha256=results.digest(MANIFEST),
        by=by,
        when=datetime.now(UTC).replace(microsecond=0),
        questions=min(rerun, asked),
        of=asked,
        scopes=tuple(scope.name for scope in results.run.scopes),
        arms=arms,
        tolerance=BOUNDS,
        commit=code(ROOT).commit,
    )


def _free(folder: Path) -> Path:
    """The first number that no record has, nor a signature alone; UsageError where each is taken."""
    for number in range(1, MOST + 1):
        place = folder / f"rerun-{number}.json"
        if not any(one.exists() or one.is_symlink() for one in (place, Path(f"{place}{SIGNED}"))):
            return place
    raise UsageError(f"{folder} has {MOST} records of re-runs, and takes no more")
