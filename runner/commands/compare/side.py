"""A finished run as it is compared, ranked and cited: its documents, and what became known of it later."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pgmnemo.escaping import line
from runner.protocol.metrics.table import ScopeTable, arrange
from runner.records import Verdict
from runner.report.citation import version
from runner.report.figures import Figures
from runner.runs.history import entries, histories, of_run
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.reading import Results, read_results
from runner.runs.run import METRICS, RUN, Run


class Side(Results):
    """A finished run whose figures are looked up by what they are about."""

    @cached_property
    def tables(self) -> dict[str, ScopeTable]:
        """By scope: where every arm placed the gold of each question."""
        return {table.scope: table for table in arrange(self.rows)}

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
        """The run as people are to be told of it: with the deviations that became known later."""
        if not self.later:
            return self.run
        verdict = Verdict.DEVIATION if self.run.verdict is Verdict.VERIFIED else self.run.verdict
        return replace(self.run, verdict=verdict, deviations=(*self.run.deviations, *self.later))

    @property
    def name(self) -> str:
        """Name of the results folder."""
        return self.run.name

    @property
    def version(self) -> str:
        """What was measured: `v0.3.1`, or another system with its version."""
        return version(self.run)

    @property
    def system(self) -> str:
        """The arm under test: the first."""
        return self.run.system

    @property
    def keys(self) -> dict[str, frozenset[str]]:
        """The scored questions of each scope."""
        return {scope: frozenset(table.questions) for scope, table in self.tables.items()}


def read_side(folder: Path) -> Side:
    """The run in `folder`, its raw rankings held against the manifest too; raises as `read_results`."""
    side = read_results(folder, Side, (RUN, METRICS, RAW))
    _ = side.tables  # what is wrong with them is told before anything is computed
    return side
