"""report.html: one file that needs nothing else; the same artefacts give the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from runner.errors import OutputError
from runner.records import Json, Retrieval, SearchScope, Verdict
from runner.report import citation, formats, sections
from runner.report.figures import Figures
from runner.report.html import compared, opening, panels
from runner.report.html.components import component_bars, components
from runner.report.html.curves import Curve, arm_curves, ceiling_curves
from runner.report.html.inline import allowed, inlined
from runner.report.html.latency import Timed, latency_panels
from runner.report.html.palette import CEILING, arm_class, component_class
from runner.report.html.plots.shares import names
from runner.report.html.questions import Contestant, questions, texts_of
from runner.report.html.standings import Scope, standings
from runner.report.legs import against_legs, legs_beside
from runner.report.stated import stated
from runner.report.templating import template
from runner.runs.run import Run, moment

PAGE, TEMPLATE = "report.html", "pgmnemo/page/5"
FOLDER = Path(__file__).parent
GENERATOR, HEAD = re.compile(r'<meta name="generator" content="(pgmnemo/page/[0-9]+)">'), 4096
STYLES = ("base.css", "plots.css", "questions.css", "print.css")
SCRIPTS = ("unpack.js", "theme.js", "scope.js", "recall.js", "measure.js", "detail.js", "questions.js")


@dataclass(frozen=True, slots=True)
class Compared:
    """Another run beside this one: what `compare --json` prints, and the raw rows of the other."""

    document: Json
    rows: Iterable[Retrieval]


@dataclass(frozen=True, slots=True)
class Texts:
    """Words of the corpus: by question, and by project and segment. They never stand in an artefact."""

    questions: Mapping[str, str]
    segments: Mapping[tuple[str, str], str]


def render_page(
    metrics: Mapping[str, Any],
    run: Run,
    rows: Iterable[Retrieval],
    timings: Iterable[Timed],
    *,
    compared_with: Compared | None = None,
    texts: Texts | None = None,
) -> str:
    """The text of report.html.

    `rows` are those of raw_retrievals.jsonl with their components, `timings` (arm, scope, seconds) those of
    timings.jsonl. Raises OutputError for a blocked run and for one without a ranking, which have no report.
    """
    if run.verdict is Verdict.BLOCKED:
        raise OutputError(f"{run.name} is blocked and has no report: read its BLOCKED.md")
    figures, scopes = Figures(metrics, run.headline_view), standings(rows)
    if not scopes:
        raise OutputError(f"{run.name} has no ranking to show")
    curves = {name: _curves(scope, figures) for name, scope in scopes.items()}
    header, packed = _data(run, figures, scopes, curves, compared_with, texts)
    script = inlined(SCRIPTS)
    return template(FOLDER / "templates" / "page.html.j2").render(
        metrics=metrics,
        run=run,
        figures=figures,
        formats=formats,
        moment=moment,
        sections=sections,
        opening=opening,
        legs=against_legs(metrics, run),
        legs_beside=legs_beside(metrics, run),
        stated=stated(run),
        places=[_place(metrics, run, figures, scopes[scope.name], curves[scope.name], scope,
                       compared_with) for scope in run.scopes if scope.name in scopes],
        classes={arm: arm_class(arm, figures.arms) for arm in figures.arms},
        legend=[(arm, arm_class(arm, figures.arms), _arm_words(run, arm)) for arm in figures.arms],
        latency=latency_panels(run, timings),
        versus=compared.verdict(compared_with.document) if compared_with else None,
        comparison_document=compared_with.document if compared_with else None,
        with_text=texts is not None,
        cited=citation.citation(figures, run),
        refusal=citation.refusal(figures, run),
        command=citation.command(run),
        embedder=run.embedder_name,
        data=_embedded(header),
        packed=packed,
        style=Markup(inlined(STYLES)),
        script=Markup(script),
        script_source=allowed(script),
        template=TEMPLATE,
    )  # fmt: skip


def page_template(text: str) -> str:
    """The template that a page says it was made by; empty where it says none."""
    found = GENERATOR.search(text[:HEAD])
    return found[1] if found else ""


def _curves(scope: Scope, figures: Figures) -> dict[str, dict[str, Curve]]:
    """Of each arm and the ceiling, up to the deepest rank that is kept or named by a metric."""
    kept = max(len(row.ranking) for answers in scope.answers.values() for row in answers.values())
    named = max((int(name.partition("@")[2]) for name in figures.names), default=1)
    depth = max(kept, named)
    listed = {arm: arm_curves(scope, arm, depth) for arm in figures.arms if arm in scope.answers}
    return {**listed, CEILING: ceiling_curves(scope, depth)}


def _place(
    metrics: Mapping[str, Any],
    run: Run,
    figures: Figures,
    scope: Scope,
    curves: Mapping[str, Mapping[str, Curve]],
    entry: SearchScope,
    compared_with: Compared | None,
) -> dict[str, Any]:
    """All plots of one search scope."""
    arms = [arm for arm in figures.arms if arm in scope.answers]
    edges = sorted({1, *_cutoffs(figures)})
    bars, judged = component_bars(run, scope, run.system)
    sizes = scope.size_array()
    return {
        "name": scope.name,
        "words": formats.scope_words(entry, run.corpus.segments),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "depth": len(curves[CEILING]["recall_any"]),
        "recall": panels.recall_panels(figures, run, scope, curves),
        "types": panels.type_panels(figures, run, scope.name),
        "ranks": panels.rank_bars(figures, scope, arms, edges),
        "rank_names": names(edges, f"not in {edges[-1]}"),
        "components": bars,
        "judged": judged,
        "differences": panels.difference_panels(metrics, figures, run, scope.name),
        "forest": compared.forest(compared_with.document, run.headline, scope.name)
        if compared_with else [],
    }  # fmt: skip


def _data(
    run: Run,
    figures: Figures,
    scopes: Mapping[str, Scope],
    curves: Mapping[str, Mapping[str, Mapping[str, Curve]]],
    compared_with: Compared | None,
    texts: Texts | None,
) -> tuple[Json, str]:
    """What the script reads: a header, and the packed columns."""
    parts = components(run)
    arms = [arm for arm in figures.arms if arm != CEILING]
    listed = [_contestant(arm, figures, scopes) for arm in arms]
    if compared_with is not None:
        listed.append(_other(compared_with, scopes))
    header, packed = questions(scopes, listed, [part.name for part in parts])
    header["scopes"] = [scope.name for scope in run.scopes if scope.name in scopes]
    header["cutoffs"] = _cutoffs(figures)
    header["compared"] = compared_with is not None
    header["parts"] = [
        {"name": part.name, "weight": part.weight, "active": part.active, "class": component_class(place)}
        for place, part in enumerate(parts)
    ]
    header["curves"] = {
        name: {arm: {family: formats.percents(curve) for family, curve in by_family.items()}
               for arm, by_family in by_arm.items()}
        for name, by_arm in curves.items()
    }  # fmt: skip
    header["texts"] = (
        texts_of(scopes, arms[0], texts.questions, texts.segments) if texts is not None else None
    )
    return header, packed


def _cutoffs(figures: Figures) -> list[int]:
    """Every k at which recall is counted, ascending."""
    return sorted(int(n.partition("@")[2]) for n in figures.names if n.startswith("recall_any@"))


def _contestant(arm: str, figures: Figures, scopes: Mapping[str, Scope]) -> Contestant:
    answers = {name: scope.answers.get(arm, {}) for name, scope in scopes.items()}
    ranks = {name: scope.ranks(arm) for name, scope in scopes.items() if arm in scope.answers}
    return Contestant(arm, arm, arm_class(arm, figures.arms), answers, ranks)


def _other(compared_with: Compared, scopes: Mapping[str, Scope]) -> Contestant:
    """The system of the compared run, beside the arms."""
    side = compared_with.document["baseline"]
    answers: dict[str, dict[str, Retrieval]] = {}
    for row in compared_with.rows:
        if row.arm == side["arm"]:
            answers.setdefault(row.scope, {})[row.question] = row
    ranks = {name: scope.ranks_of(answers[name]) for name, scope in scopes.items() if name in answers}
    return Contestant(
        "compared", f"{side['pgmnemo_version']} ({side['name']})", "arm-compared", answers, ranks
    )


def _arm_words(run: Run, arm: str) -> str:
    words = {arm.name: arm.words for arm in run.arms}
    return str(words.get(arm, "the best that any ranking can reach with this gold"))


def _embedded(header: Json) -> Markup:
    """JSON that no text can end or open an element in."""
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
