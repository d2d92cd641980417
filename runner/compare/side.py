"""One of the two runs that are compared: its documents, and each question's value from the raw rankings."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from runner.metrics.table import ScopeTable, arrange
from runner.report.citation import version
from runner.report.figures import Figures
from runner.runs.metrics import METRICS
from runner.runs.raw import RAW
from runner.runs.reading import Results, read_results
from runner.runs.run import RUN


class Side(Results):
    """A finished run."""

    @cached_property
    def tables(self) -> dict[str, ScopeTable]:
        """By scope: where every arm placed the gold of each question."""
        return {table.scope: table for table in arrange(self.rows)}

    @cached_property
    def figures(self) -> Figures:
        """The rows of metrics.json, looked up by what they are about."""
        return Figures(self.metrics, self.run.headline_view)

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
