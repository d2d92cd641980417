"""Systems over several runs as one table and one plot: a column and a panel a corpus.

Of runs on one corpus at one granularity, over the same questions, the first that measured a system gives its
figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from runner.cite.results import Cited
from runner.errors import UsageError
from runner.markdown import table
from runner.records import ALL
from runner.report.figures import Figures
from runner.report.formats import MISSING, questions_of
from runner.runs.run import Arm, Run

PASSAGES = "+passages"
IN_SAMPLE = "‡"
NOT_TUNED = ("", "never", "not known")
LEGEND = (
    f"{IN_SAMPLE} in-sample: that system's defaults were chosen on the corpus, or a part of it, says its run."
)
RECALL, RANK = "recall_any@5", "MRR@50"
TITLE = f"{RANK} of each system"
ALT = "MRR of each system with its interval, a panel for each corpus"
LEFT, PANEL, GAP, ROW, TOP = 180, 180, 26, 22, 58  # pixels
STYLE = """
text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.head { font-weight: 600; } .soft { fill: #59636e; font-size: 11px; } .end { text-anchor: end; }
.mid { text-anchor: middle; } .grid { stroke: #d1d9e0; } .other { stroke: #6e7781; fill: #6e7781; }
.first { stroke: #0969da; fill: #0969da; } .ring circle { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .soft { fill: #9198a1; } .grid { stroke: #3d444d; }
  .other { stroke: #9198a1; fill: #9198a1; } .first { stroke: #4493f8; fill: #4493f8; }
  .ring circle { fill: #0d1117; }
}
"""


class Column:
    """One corpus: each system in the headline's scope and view, from the first run that measured it."""

    def __init__(self, first: Cited) -> None:
        self.run, self.scope = first.run, first.run.scopes[0].name
        self.runs: list[Cited] = []
        self.by: dict[str, tuple[Arm, Cited]] = {}
        self.add(first)

    def add(self, results: Cited) -> None:
        """Take the systems of one more run that no run before it measured."""
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
        """Corpus, granularity, n and what is not verified of it."""
        verdicts = dict.fromkeys(str(one.told.verdict) for one in self.runs)
        told = ", ".join(verdict for verdict in verdicts if verdict != "verified")
        return f"{self.title}, {questions(self.n, self.runs[0].figures.view)}" + (
            f" ({told})" if told else ""
        )

    def of(self, name: str) -> Figures:
        """The figures of the run that measured a system; those of the first run for one that none did."""
        return self.by.get(name, (None, self.runs[0]))[1].figures

    def cell(self, name: str) -> str:
        """Recall with its interval, then MRR, marked where the system was tuned on it; or what happened."""
        arm, cited = self.by.get(name, (None, self.runs[0]))
        if arm is None or arm.failed:
            return "failed" if arm else MISSING
        recall = cited.figures.with_interval(name, self.scope, RECALL)
        mark = f" {IN_SAMPLE}" if tuned_on_it(cited.run, name) else ""
        return f"{recall} · {cited.figures.value(name, self.scope, RANK)}{mark}"

    def p50(self, name: str) -> str:
        """Milliseconds of the median recall."""
        timed = self.by[name][1].run.latency if name in self.by else ()
        found = (one.p50_ms for one in timed if (one.arm, one.scope) == (name, self.scope))
        return next((f"{one:.1f}" for one in found), MISSING)


def corpus_title(run: Run) -> str:
    """`LoCoMo, session`: what a column is about."""
    return f"{run.corpus.title.partition(' (')[0]}, {run.choice.level}"


def questions(n: int, view: str) -> str:
    """`n = 1,982`, or `n = 60 pointed questions` where the headline is of a view (protocol §8)."""
    return f"n = {n:,}" + ("" if view == ALL else f" {questions_of(view)}")


def tuned_on_it(run: Run, name: str) -> bool:
    """Whether an arm's defaults were chosen on the run's corpus; a leg is as its system."""
    arm = next((one for one in run.arms if one.name == name), None)
    told = run.systems[0] if arm and arm.role == "leg" else arm
    return told is not None and told.tuned_on not in NOT_TUNED


def systems_table(runs: Sequence[Cited], place: str) -> str:
    """Systems against corpora as Markdown, the plot at `place`, the runs; times are of the first run."""
    columns = _columns(runs)
    heads = ["system", *(one.head for one in columns), "p50 ms"]
    rows = [[name, *(one.cell(name) for one in columns), columns[0].p50(name)] for name in _names(columns)]
    cells = table(heads, rows, "l" + "r" * (len(heads) - 1))
    legend = [LEGEND] if IN_SAMPLE in cells else []
    return "\n\n".join([cells, *legend, f"![{ALT}]({place})", _sources(runs)])


def _sources(runs: Sequence[Cited]) -> str:
    protocols = ", ".join(sorted({one.run.protocol.version for one in runs}))
    folders = ",\n".join(f"`{one.run.path}`" for one in runs)
    return (
        f"Protocol {protocols}; of these runs the first that measured a system gives its figures:\n{folders}."
    )


def _columns(runs: Sequence[Cited]) -> list[Column]:
    columns: dict[str, Column] = {}
    for cited in runs:
        if column := columns.get(corpus_title(cited.run)):
            column.add(cited)
        else:
            columns[corpus_title(cited.run)] = Column(cited)
    return list(columns.values())


def plot(runs: Sequence[Cited]) -> str:
    """MRR of each system with its interval: a panel for each corpus, all on one scale from 0 to 1.

    A system that holds passages in place of lessons has a ring in the same row.
    """
    columns = _columns(runs)
    names = [name for name in _names(columns) if not name.endswith(PASSAGES)]
    width, height = LEFT + len(columns) * (PANEL + GAP), TOP + ROW * len(names) + 34
    parts = [_text(LEFT - 10, TOP + ROW * at + 4, name, "end") for at, name in enumerate(names)]
    for at, column in enumerate(columns):
        parts.extend(_panel(column, names, LEFT + at * (PANEL + GAP)))
    bottom = (
        f"{RANK} with its 95 % interval; pgmnemo is blue; a ring: passages in place of lessons; n questions"
    )
    parts.append(_text(LEFT, height - 4, bottom, "soft"))
    words = "; ".join(f"{one.title}: {one.run.system} {one.cell(one.run.system)}" for one in columns)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="title"><title id="title">{escape(f"{TITLE}. {words}")}</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</svg>\n"
    )


def _panel(column: Column, names: list[str], left: int) -> list[str]:
    bottom = TOP + ROW * len(names) - 8
    parts = [_text(left, 18, column.title, "head"), _text(left, 34, f"n = {column.n:,}", "soft")]
    for tenth in (0, 5, 10):
        at = left + PANEL * tenth / 10
        parts.append(f'<path class="grid" d="M{at:g} {TOP - 14}V{bottom}"/>')
        parts.append(_text(at, bottom + 13, f"{tenth / 10:g}", "soft mid"))
    for place, name in enumerate(names):
        kind, y = "first" if name == column.run.system else "other", TOP + ROW * place
        parts.append(_mark(column, name, left, y - 3, kind))
        parts.append(_mark(column, name + PASSAGES, left, y + 4, "other ring"))
    return parts


def _mark(column: Column, name: str, left: int, y: int, kind: str) -> str:
    row = column.of(name).row(name, column.scope, RANK)
    if row is None:
        return ""
    low, at, high = (left + PANEL * row[key] for key in ("ci95_low", "value", "ci95_high"))
    said = escape(f"{name}: {row['value']:.3f} [{row['ci95_low']:.3f}, {row['ci95_high']:.3f}]")
    return (
        f'<g class="{kind}"><title>{said}</title><path d="M{low:.1f} {y}H{high:.1f}" stroke-width="1.5"/>'
        f'<circle cx="{at:.1f}" cy="{y}" r="3.5"/></g>'
    )


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>'


def _names(columns: list[Column]) -> list[str]:
    """Every system, the best MRR of the first run first, and behind each what it does with passages."""
    names = dict.fromkeys(name for one in columns for name in one.by)
    first = columns[0]

    def rank(name: str) -> tuple[float, str]:
        own = name.removesuffix(PASSAGES)
        row = first.of(own).row(own, first.scope, RANK)
        return -row["value"] if row else 0.0, name

    return sorted(names, key=rank)
