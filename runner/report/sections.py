"""The tables of the report, each from the figures of metrics.json or the facts of run.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pgmnemo.escaping import escape_markdown
from pgmnemo.records import EmbedderIdentity
from runner.markdown import table
from runner.protocol.metrics import CEILING
from runner.records import ALL, GateResult, Status, Verdict
from runner.report.formats import (
    MISSING,
    Figures,
    change,
    change_interval,
    count,
    figure,
    in_percent,
    interval,
    questions_of,
    seconds,
    shorten,
    trivial,
)
from runner.runs.run import Arm, Run
from runner.runs.timings import RerankCount

Facts = Mapping[str, Any]
Part = tuple[str, str, str]  # its name, its view and its type
PROVES_INSTALLATION = "This corpus proves that an installation works; its figures are no evidence of recall."
STAGES = ("load", "check", "embed", "ingest", "recall", "time", "score", "wall")


def headline(figures: Figures, run: Run) -> str:
    """Return the table of the headline metrics of the system in the first scope, except trivial metrics.

    The result is empty if all of them are trivial.
    """
    rows = [
        (row["metric"], figure(row["metric"], row["value"]) + (" %" if in_percent(row["metric"]) else ""),
         interval(row), count(row["n"]))
        for row in figures.headline(run)
        if not trivial(row)
    ]  # fmt: skip
    return table(("metric", "value", "95 % interval", "n"), rows) if rows else ""


def trivial_headlines(figures: Figures, run: Run) -> list[str]:
    """Return one sentence for each headline metric that the size of the scope makes trivial."""
    return [
        f"`{row['metric']}` is no headline here: for {count(row['trivial'])} of {count(row['n'])} questions "
        "the whole scope fits into its k ranks."
        for row in figures.headline(run)
        if trivial(row)
    ]


def arms(figures: Figures, run: Run, scope: str) -> str:
    """Return the table of every arm and the ceiling by the headline metrics."""
    names = run.headline
    rows = [(arm, *(figures.with_interval(arm, scope, m) for m in names)) for arm in figures.arms_in(scope)]
    return table(("arm", *names), rows)


def counted(figures: Figures, names: Sequence[str], scope: str) -> str:
    """Return the table of every arm and the ceiling by metrics, with the number of questions."""
    rows = [
        (arm, *(figures.with_interval(arm, scope, name) for name in names), count(figures.n(arm, scope)))
        for arm in figures.arms_in(scope)
    ]
    return table(("arm", *names, "n"), rows)


def summary(metrics: Facts, run: Run) -> str:
    """Return the output of a run on the command line: the verdict, then every arm in each scope.

    The first three metrics of the headline fit into a terminal.
    """
    figures = Figures(metrics, run.headline_view)
    of = "" if figures.view == ALL else f", {questions_of(figures.view)}"
    plain = not run.corpus.citable and run.verdict == Verdict.DEVIATION  # it is never cited
    parts = [f"# {run.corpus.title}{of}, {run.title}{'' if plain else f': {run.verdict}'}"]
    for scope in run.scopes:
        parts += [f"## {scope.name}", counted(figures, run.headline[:3], scope.name)]
    parts.append("Recalls in percent, MRR from 0 to 1, each with its 95 % interval; n questions.")
    return escape_markdown("\n\n".join(parts)) + "\n"


def side_by_side(figures: Figures, metrics: Facts, run: Run) -> str:
    """Return every system of the run in the first scope, as a table."""
    heads, *rows = systems(figures, metrics, run)
    return table(heads, rows)


def systems(figures: Figures, metrics: Facts, run: Run) -> list[tuple[str, ...]]:
    """Return a header, then each system in the first scope: quality, difference to the first, and costs.

    The difference is in MRR, the second metric of the headline.
    """
    scope, names, compared = run.scopes[0].name, run.headline, run.headline[1]
    costs = ("load s", "p50 ms", "p95 ms", "MB disk", "MB memory")
    heads = ("system", *names, f"{compared}, difference", *costs)
    rows = [heads]
    for arm in run.systems:
        cells = [figures.with_interval(arm.name, scope, metric) for metric in names]
        apart = _apart(metrics, arm.name, scope, run.headline_view, compared)
        rows.append((arm.name, *cells, apart, *_costs(run, arm)))
    return rows


def _apart(metrics: Facts, arm: str, scope: str, view: str, metric: str) -> str:
    """Return the lead of the system under test over an arm, paired by question; a dash if it is unknown."""
    wanted = (arm, scope, view, metric)
    for row in metrics["differences"]:
        if (row["baseline"], row["scope"], row["view"], row["metric"]) == wanted:
            return f"{change(metric, row['value'])} {change_interval(row)}"
    return MISSING


def _costs(run: Run, arm: Arm) -> tuple[str, ...]:
    timed = next((one for one in run.latency if (one.arm, one.scope) == (arm.name, run.scopes[0].name)), None)
    times = (f"{timed.p50_ms:.1f}", f"{timed.p95_ms:.1f}") if timed else (MISSING, MISSING)
    sizes = (f"{size / 1e6:,.1f}" if size else MISSING for size in (arm.disk_bytes, arm.memory_bytes))
    loaded = f"{sum(arm.load_seconds.values()):,.1f}" if arm.load_seconds else MISSING
    return (loaded, *times, *sizes)


def budgets(figures: Figures, metrics: Facts, run: Run) -> str:
    """Return the table of systems by budgets of tokens, in the first scope; empty without such metrics.

    A cell has the questions with any evidence, those with all of it, and the precision of the tokens.
    """
    scope = run.scopes[0].name
    sizes = [name.partition("@")[2] for name in metrics["definitions"] if name.startswith("budget_any@")]
    names = [[f"budget_{what}@{size}" for what in ("any", "all", "precision")] for size in sizes]
    rows = [
        (arm, *(" / ".join(figures.value(arm, scope, name) for name in three) for three in names))
        for arm in (*(one.name for one in run.systems), CEILING)
        if sizes and figures.row(arm, scope, names[0][0])
    ]
    return table(("system", *(f"{int(size):,} tokens" for size in sizes)), rows) if rows else ""


def system_words(arm: Arm) -> str:
    """Return the description of a system, the origin of its defaults, and the run's remarks on it."""
    own = ["It embeds by itself and stands under no shared embedder."] if arm.own_embedder else []
    tuned = f"Defaults chosen on this corpus: {arm.tuned_on}."
    return " ".join([f"{arm.words}.", *own, tuned, *map(_sentence, arm.remarks)]) + failure(arm)


def failure(arm: Arm) -> str:
    """Return the reason why an arm has no ranking, as the end of a report line; empty if it has one."""
    return f" **No ranking**: {arm.failed.rstrip('.')}." if arm.failed else ""


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def rewrites(run: Run) -> str:
    """Return the table of the rewriter's effects on the questions, over all of them and by type."""
    heads = ("type", "changed", "calls", "cached", "failed", "n")
    rows = [
        (row.type, *map(count, (row.changed, row.calls, row.cached, row.failures, row.n)))
        for row in run.rewrites
    ]
    return table(heads, rows)


def reranks(figures: Figures, run: Run) -> str:
    """Return the table of reranked arms: headline metrics of base and arm, cost and changes, overall and
    by type.
    """
    names = run.headline
    heads = ("arm", "scope", "type", *names, "calls", "failed", "changed", "ms more", "n")
    rows = [
        (row.arm, row.scope, row.type, *(_both(figures, row, name) for name in names), count(row.calls),
         count(row.failures), f"{count(row.changed)}, {count(row.changed_first)}",
         MISSING if row.added_p50_ms is None else f"{row.added_p50_ms:.1f}", count(row.n))
        for row in run.reranks
    ]  # fmt: skip
    return table(heads, rows, "lll" + "r" * (len(names) + 5))


def _both(figures: Figures, row: RerankCount, metric: str) -> str:
    """Return `73.2 → 77.7`: the figure of the base arm, then that of the reranked arm."""
    return " → ".join(figures.value(arm, row.scope, metric, ALL, row.type) for arm in (row.base, row.arm))


def readings(metrics: Facts, run: Run) -> str:
    """Return the table of every system under other projects' counting rules; empty without rules."""
    rows = [
        (row["reading"], row["arm"], row["metric"], f"{100 * row['value']:.2f}", count(row["n"]))
        for row in metrics.get("readings", ())
    ]
    return table(("as counted by", "system", "metric", "%", "n"), rows, "lllrr") if rows else ""


def everything(figures: Figures, run: Run, scope: str) -> str:
    """Return the table of every metric by every arm over all questions, the first arm with intervals."""
    first, *others = figures.arms_in(scope)
    rows = [
        (
            name,
            figures.with_interval(first, scope, name, ALL),
            *(figures.value(arm, scope, name, ALL) for arm in others),
        )
        for name in figures.names
        if any(figures.row(arm, scope, name, ALL) for arm in (first, *others))
    ]
    return table(("metric", first, *others), rows)


def trivial_counts(figures: Figures, run: Run, scope: str) -> list[str]:
    """Return the number of trivial questions at each k: `trivial at k = 20: 1,234`."""
    rows = (figures.row(run.system, scope, name, ALL) for name in figures.names)
    counts = {row["metric"].partition("@")[2]: int(row["trivial"]) for row in rows if row and trivial(row)}
    return [f"trivial at k = {k}: {count(number)}" for k, number in counts.items()]


def embedder_reading(embedder: EmbedderIdentity) -> str:
    """Return a text on how much of a document the embedder reads."""
    limit = embedder.max_tokens
    return f"the first {count(limit)} tokens of a text" if limit else "the whole text"


def types(figures: Figures, run: Run, scope: str) -> str:
    """Return the system's headline metrics for each question type."""
    return split(figures, run.headline, run.system, scope, "type", of_types(figures))


def views(figures: Figures, run: Run, scope: str) -> str:
    """Return the system's headline metrics for each subset of the questions."""
    return split(figures, run.headline, run.system, scope, "view", of_views(figures))


def of_types(figures: Figures) -> list[Part]:
    """Return each question type as a part, over all views."""
    return [(kind, ALL, kind) for kind in figures.types]


def of_views(figures: Figures) -> list[Part]:
    """Return each view as a part, over all types."""
    return [(view, view, ALL) for view in figures.views]


def split(
    figures: Figures, names: Sequence[str], arm: str, scope: str, what: str, parts: Sequence[Part]
) -> str:
    """Return some metrics of an arm for each part of the questions, with the part's size."""
    rows = [
        (label, *(figures.with_interval(arm, scope, name, view, kind) for name in names),
         count(figures.n(arm, scope, view, kind)))
        for label, view, kind in parts
    ]  # fmt: skip
    return table((what, *names, "n"), rows)


def differences(metrics: Facts, run: Run, scope: str) -> str:
    """Return the table of arm minus baseline in the headline metrics, paired by question.

    The result is empty if none exist.
    """
    rows = [
        (f"{row['arm']} − {row['baseline']}", row["metric"], change(row["metric"], row["value"]),  # noqa: RUF001
         change_interval(row), count(row["n"]))
        for row in metrics["differences"]
        if (row["scope"], row["view"]) == (scope, run.headline_view) and row["metric"] in run.headline
    ]  # fmt: skip
    return table(("difference", "metric", "value", "95 % interval", "n"), rows, "llrrr") if rows else ""


def latency(run: Run) -> str:
    """Return the table of the p50 and p95 of a recall, as the client measured it."""
    rows = [
        (row.arm, row.scope, str(row.k), f"{row.p50_ms:.1f} ms", f"{row.p95_ms:.1f} ms", count(row.n))
        for row in run.latency
    ]  # fmt: skip
    return table(("arm", "scope", "k", "p50", "p95", "n"), rows, "llrrrr")


def resources(run: Run) -> str:
    """Return the table of the seconds of each stage, embedded texts and memory."""
    facts = run.resources
    if facts is None:
        return ""
    rows = [(stage, seconds(getattr(facts, f"{stage}_seconds"))) for stage in STAGES]
    rows += [("texts embedded now", count(facts.vectors_embedded))]
    rows += [("vectors from the cache", count(facts.vectors_cached))]
    rows += [("peak memory of the runner", f"{facts.peak_memory_mb:,.0f} MB")]
    return table(("resource", "used"), rows)


def mapping(names: tuple[str, str], facts: Mapping[str, Any]) -> str:
    """Return a table of names and values."""
    return table(names, [(name, str(value)) for name, value in facts.items()], "ll")


def gate_table(results: Iterable[GateResult]) -> str:
    """Return the table of what each gate expected and found, with shortened hashes."""
    rows = [(g.gate, g.status.value, shorten(g.expected), shorten(g.found)) for g in results]
    return table(("gate", "status", "expected", "found"), rows, "llll")


def remedies(results: Iterable[GateResult]) -> list[str]:
    """Return a line with the remedy for each gate that did not pass."""
    settled = (Status.PASSED, Status.NOT_YET)
    return [f"{r.gate}: {r.resolve}" for r in results if r.status not in settled and r.resolve]
