"""A results folder as a citation reads it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from runner.errors import RefusedError
from runner.report.citation import CITABLE, refusal
from runner.report.figures import Figures
from runner.runs.folder import is_local
from runner.runs.reading import Results, read_results


class Cited(Results):
    """A finished run whose figures are looked up by what they are about."""

    @cached_property
    def figures(self) -> Figures:
        """The rows of metrics.json."""
        return Figures(self.metrics, self.run.headline_view)


def read_cited(folder: Path | str) -> Cited:
    """The run in `folder`, both documents as its manifest has them; raises like `read_results`."""
    return read_results(folder, Cited)


def citable(results: Cited) -> Cited:
    """`results` themselves; RefusedError with the usual sentence when nothing of the run may be cited."""
    reason = refusal(results.figures, results.run)
    if reason is None and is_local(results.folder):
        raise RefusedError(
            f"{results.folder} is not kept, so nobody could look it up: log it first, with history add"
        )
    if reason is None:
        return results
    if results.run.verdict not in CITABLE:
        reason += (
            " Its report.md says what the protocol does not know; a citable run has a registered corpus."
        )
    raise RefusedError(f"{results.folder}: {reason}")
