"""Whether a figure is the one in the artefacts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from runner.cite.results import Cited
from runner.lint.artefacts import Row, Shelf, chosen, rows
from runner.lint.context import Context
from runner.lint.figures import Figure

VERSION = re.compile(r"\bv?(\d+\.\d+\.\d+)\W{0,3}[:=(]?\s*$")
COUNT = re.compile(r"\bn\s*=\s*(\d[\d,]*)")
CORPUS = re.compile(r"\bCorpus: ([^,.\n]+), scope (\w+)")
EMBEDDER = re.compile(r"\bEmbedder: ([\w.+-]+?)[.\s]")


def mismatch(figure: Figure, around: Context, runs: list[Cited], shelf: Shelf) -> str | None:
    """What the artefacts hold instead, as a sentence; None when the figure is theirs."""
    key = figure.name.key
    if key is None:
        return None
    if figure.number.change:
        return _change(figure, key, around, runs, shelf)
    runs, other = _of_version(figure, runs, shelf)
    if not runs:
        return f"no run of v{other} that may be its previous value lies beside the artefacts"
    candidates = [(run, row) for run in runs for row in chosen(run, key, _words(figure, around))]
    if not candidates:
        return f"{key} does not stand in {_names(runs)}"
    agreeing = [(run, row) for run, row in candidates if figure.number.agrees(row["value"])]
    if not agreeing:
        values = _values(row for _, row in candidates)
        return f"{key} is {values} in {_names(runs)}{_elsewhere(figure, key, runs)}"
    if not any(figure.number.interval_agrees(row["ci95_low"], row["ci95_high"]) for _, row in agreeing):
        return f"the interval of {key} is {_intervals(row for _, row in agreeing)} in {_names(runs)}"
    return next(_facts(figure, around, agreeing), None)


def _words(figure: Figure, around: Context) -> str:
    """The words that choose arm, scope, view and type: of the row or sentence, and of a citation's block."""
    if CORPUS.search(around.block):
        return around.block
    return re.sub(r"\S*results/\S+", " ", f"{figure.header} {around.local} {around.headings}")


def _of_version(figure: Figure, runs: list[Cited], shelf: Shelf) -> tuple[list[Cited], str]:
    """The runs of the version that stands right before the value, such as `v0.2.1: 0.975`; else all."""
    match = VERSION.search(figure.before.replace("*", "").replace("`", ""))
    if match is None:
        return runs, ""
    named = [run for run in runs if str(run.run.version).removeprefix("v") == match[1]]
    return named or [e for run in runs for e in shelf.earlier(match[1], run)], match[1]


def _change(figure: Figure, key: str, around: Context, runs: list[Cited], shelf: Shelf) -> str | None:
    """A difference is one of metrics.json, or lies between two runs that are named."""
    words = _words(figure, around)
    found = [
        row["value"] for run in runs for row in run.metrics.get("differences", []) if row["metric"] == key
    ]
    values = [row["value"] for run in runs for row in chosen(run, key, words)]
    found += [after - before for before in values for after in values if after != before]
    shown = figure.number
    scale = 100 if shown.percent else 1
    step = 0.5 * 10**-shown.decimals + 1e-9
    if any(abs(abs(value) * scale - shown.shown) <= step for value in found):
        return None
    return f"no difference in {key} of this size stands in {_names(runs)}, or between the runs that are named"


def _elsewhere(figure: Figure, key: str, runs: list[Cited]) -> str:
    """Where the value does stand, if it does: another scope, arm, view or type that is not said."""
    for run in runs:
        for row in rows(run, key):
            if figure.number.agrees(row["value"]):
                place = ", ".join(f"{c} {row[c]}" for c in ("arm", "scope", "view", "type"))
                return f"; the figure is that of {place}, which is not said"
    return ""


def _facts(figure: Figure, around: Context, agreeing: list[tuple[Cited, Row]]) -> Iterator[str]:
    """n, corpus, scope and embedder, where they are said."""
    local = figure.header or figure.words
    said = COUNT.search(local) or (COUNT.search(around.block) if CORPUS.search(around.block) else None)
    counts = {row["n"] for _, row in agreeing}
    if said and int(said[1].replace(",", "")) not in counts:
        yield f"n = {said[1]} is said, {', '.join(f'{n:,}' for n in sorted(counts))} questions were scored"
    corpus, embedder = CORPUS.search(around.block), EMBEDDER.search(around.block)
    titles = {str(run.run.corpus.title) for run, _ in agreeing}
    scopes = {str(row["scope"]) for _, row in agreeing}
    embedders = {run.run.embedder_name for run, _ in agreeing}
    if corpus and corpus[1] not in titles:
        yield f"corpus {corpus[1]} is said, its run was on {', '.join(sorted(titles))}"
    if corpus and corpus[2] not in scopes:
        yield f"scope {corpus[2]} is said, the figure is of {', '.join(sorted(scopes))}"
    if embedder and embedder[1] not in embedders:
        yield f"embedder {embedder[1]} is said, its run used {', '.join(sorted(embedders))}"


def _values(found: Iterable[Row]) -> str:
    return " or ".join(dict.fromkeys(f"{row['value']:.4f}" for row in found))


def _intervals(found: Iterable[Row]) -> str:
    return " or ".join(dict.fromkeys(f"[{row['ci95_low']:.3f}, {row['ci95_high']:.3f}]" for row in found))


def _names(runs: list[Cited]) -> str:
    return ", ".join(dict.fromkeys(str(run.run.name) for run in runs))
