"""A results folder as a citation reads it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path

from runner.errors import RefusedError
from runner.escaping import line
from runner.records import Verdict
from runner.report.citation import CITABLE, refusal
from runner.report.figures import Figures
from runner.runs.folder import is_local
from runner.runs.history import entries, histories, of_run, withdrawn
from runner.runs.manifest import MANIFEST
from runner.runs.reading import Results, read_results
from runner.runs.run import Run


class Cited(Results):
    """A finished run whose figures are looked up by what they are about."""

    @cached_property
    def figures(self) -> Figures:
        """The rows of metrics.json."""
        return Figures(self.metrics, self.run.headline_view)

    @cached_property
    def later(self) -> tuple[str, ...]:
        """Deviations that became known after the run, from every HISTORY.md above the folder."""
        run, digest = self.run, self.digest(MANIFEST)
        found = [one for path in histories(self.folder) for one in entries(path)]
        named = (one.values("deviation") for one in of_run(found, run.choice.suite, run.name, digest))
        known = {line(text) for text in run.deviations}
        return tuple(dict.fromkeys(text for texts in named for text in texts if text not in known))

    @cached_property
    def told(self) -> Run:
        """The run as it is to be cited: with the deviations that became known later."""
        if not self.later:
            return self.run
        verdict = Verdict.DEVIATION if self.run.verdict is Verdict.VERIFIED else self.run.verdict
        return replace(self.run, verdict=verdict, deviations=(*self.run.deviations, *self.later))


def read_cited(folder: Path | str) -> Cited:
    """The run in `folder`, both documents as its manifest has them; raises like `read_results`.

    RefusedError for a run that HISTORY.md says was withdrawn: neither a citation nor a document may use it.
    """
    results = read_results(folder, Cited)
    _ = results.edition  # one that is not known here is told before anything is looked up in it
    if (why := withdrawn(results.later)) is not None:
        raise RefusedError(f"{folder} was withdrawn: HISTORY.md says: {why}; cite another run")
    return results


def citable(results: Cited) -> Cited:
    """`results` themselves; RefusedError with the usual sentence when nothing of the run may be cited."""
    reason = refusal(results.figures, results.run)
    if reason is None:
        demand_kept(results)
        return results
    if results.run.verdict not in CITABLE:
        reason += (
            " Its report.md says what the protocol does not know; a citable run has a registered corpus."
        )
    raise RefusedError(f"{results.folder}: {reason}")


def demand_kept(results: Cited) -> None:
    """RefusedError for a run in local/, which nobody else has."""
    if is_local(results.folder):
        raise RefusedError(
            f"{results.folder} is not kept, so nobody could look it up: log it first, with history add"
        )
