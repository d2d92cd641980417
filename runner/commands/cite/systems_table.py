"""Systems over several runs as one table and one plot, with a column and a panel for each corpus.

Among runs on one corpus at one granularity, over the same questions, the first run that measured a system
gives its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgmnemo.errors import UsageError
from runner.commands.compare.compared_run import ComparedRun
from runner.markdown import table
from runner.records import ALL
from runner.report.formats import MISSING, Figures, questions_of
from runner.report.render import template
from runner.runs.run import Arm, Run

PASSAGES = "+passages"
IN_SAMPLE = "‡"
NOT_TUNED = ("", "never", "not known")
LEGEND = (
    f"{IN_SAMPLE} in-sample: that system's defaults were chosen on the corpus, or a part of it, says its run."
)
RECALL, RANK = "recall_any@1", "MRR@50"
TITLE = f"{RANK} of each system"
ALT = "MRR of each system with its interval, a panel for each corpus"
PLOT = Path(__file__).parent / "templates" / "systems.svg.j2"


class CorpusColumn:
    """The column of a corpus: each system in the headline's scope and view.

    The figures of a system are from the first run that measured it.
    """

    def __init__(self, first: ComparedRun) -> None:
        self.run, self.scope = first.run, first.run.scopes[0].name
        self.runs: list[ComparedRun] = []
        self.by: dict[str, tuple[Arm, ComparedRun]] = {}
        self.add(first)

    def add(self, results: ComparedRun) -> None:
        """Add the systems of another run, except those that an earlier run measured."""
        run = results.run
        if (run.corpus.sha256, run.choice.level) != (self.run.corpus.sha256, self.run.choice.level):
            raise UsageError(f"{results.folder} is a run on another corpus than {self.run.name}")
        self.runs.append(results)
        for arm in run.systems:
            if arm.name not in self.by or self.by[arm.name][0].failed:
                self.by[arm.name] = arm, results

    @property
    def n(self) -> int:
        return self.of(self.run.system).n(self.run.system, self.scope)

    @property
    def title(self) -> str:
        return corpus_title(self.run)

    @property
    def head(self) -> str:
        """The head of the column: corpus, granularity, n, and any verdict other than verified."""
        verdicts = dict.fromkeys(str(one.as_reported.verdict) for one in self.runs)
        told = ", ".join(verdict for verdict in verdicts if verdict != "verified")
        return f"{self.title}, {questions(self.n, self.runs[0].figures.view)}" + (
            f" ({told})" if told else ""
        )

    def of(self, name: str) -> Figures:
        """Return the figures of the run that measured a system.

        If no run measured it, return those of the first run.
        """
        return self.by.get(name, (None, self.runs[0]))[1].figures

    def cell(self, name: str) -> str:
        """Return recall with its interval and MRR as text; `failed` or a dash without figures."""
        arm, cited = self.by.get(name, (None, self.runs[0]))
        if arm is None or arm.failed:
            return "failed" if arm else MISSING
        recall = cited.figures.with_interval(name, self.scope, RECALL)
        mark = f" {IN_SAMPLE}" if tuned_on_it(cited.run, name) else ""
        return f"{recall} · {cited.figures.value(name, self.scope, RANK)}{mark}"

    def p50(self, name: str) -> str:
        """Return the median recall time in milliseconds."""
        timed = self.by[name][1].run.latency if name in self.by else ()
        found = (one.p50_ms for one in timed if (one.arm, one.scope) == (name, self.scope))
        return next((f"{one:.1f}" for one in found), MISSING)


def corpus_title(run: Run) -> str:
    """Return the title of a column, such as `LoCoMo, session`."""
    return f"{run.corpus.title.partition(' (')[0]}, {run.choice.level}"


def questions(n: int, view: str) -> str:
    """Return `n = 1,982`, or `n = 60 pointed questions` if the headline is over a view (protocol §8)."""
    return f"n = {n:,}" + ("" if view == ALL else f" {questions_of(view)}")


def tuned_on_it(run: Run, name: str) -> bool:
    """Return whether an arm's defaults were chosen on the run's corpus; a retriever counts as its system."""
    arm = next((one for one in run.arms if one.name == name), None)
    told = run.systems[0] if arm and arm.role == "leg" else arm
    return told is not None and told.tuned_on not in NOT_TUNED


def systems_table(runs: Sequence[ComparedRun], place: str, only: Sequence[str] = ()) -> str:
    """Return a Markdown table of systems by corpora, with the plot at `place` and the list of runs.

    The times are of the first corpus. `only` names the rows, in their order; if it is empty, every system
    has a row. Raises UsageError if no run has a named system.
    """
    columns = _columns(runs)
    heads = ["system", *(one.head for one in columns), "p50 ms"]
    rows = [
        [name, *(one.cell(name) for one in columns), columns[0].p50(name)] for name in _names(columns, only)
    ]
    cells = table(heads, rows, "l" + "r" * (len(heads) - 1))
    legend = [LEGEND] if IN_SAMPLE in cells else []
    return "\n\n".join([cells, *legend, f"![{ALT}]({place})", _sources(runs)])


def _sources(runs: Sequence[ComparedRun]) -> str:
    protocols = ", ".join(sorted({one.run.protocol.version for one in runs}))
    folders = ",\n".join(f"`{one.run.path}`" for one in runs)
    return (
        f"Protocol {protocols}; of these runs the first that measured a system gives its figures:\n{folders}."
    )


def _columns(runs: Sequence[ComparedRun]) -> list[CorpusColumn]:
    columns: dict[str, CorpusColumn] = {}
    for cited in runs:
        if column := columns.get(corpus_title(cited.run)):
            column.add(cited)
        else:
            columns[corpus_title(cited.run)] = CorpusColumn(cited)
    return list(columns.values())


def plot(runs: Sequence[ComparedRun], only: Sequence[str] = ()) -> str:
    """Return an SVG plot of the MRR of each system with its interval, a panel for each corpus.

    The scale is from 0 to 1. `only` restricts the systems. The variant of a system that holds passages in
    place of lessons is a ring in the same row.
    """
    columns = _columns(runs)
    shown = _names(columns, only)
    rows = list(dict.fromkeys(name.removesuffix(PASSAGES) for name in shown))
    words = "; ".join(f"{one.title}: {one.run.system} {one.cell(one.run.system)}" for one in columns)
    return template(PLOT).render(
        columns=columns, rows=rows, shown=shown, title=f"{TITLE}. {words}", metric=RANK, passages=PASSAGES
    )


def _names(columns: list[CorpusColumn], only: Sequence[str]) -> list[str]:
    """Return the names of all systems, ordered by MRR on the first corpus, highest first.

    Passage variants follow their system.
    """
    names = dict.fromkeys(name for one in columns for name in one.by)
    for name in only:
        if name not in names:
            raise UsageError(f"these runs have no system {name}: they have {', '.join(names)}")
    if only:
        return list(only)
    first = columns[0]

    def rank(name: str) -> tuple[float, str]:
        own = name.removesuffix(PASSAGES)
        row = first.of(own).row(own, first.scope, RANK)
        return -row["value"] if row else 0.0, name

    return sorted(names, key=rank)
