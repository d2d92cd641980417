"""report.html: one self-contained file; the same artefacts give the same bytes."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pgmnemo.errors import OutputError
from runner.records import Json, Retrieval, Verdict
from runner.report import formats
from runner.report.formats import Figures
from runner.report.html import panels, summary
from runner.report.html.gold_ranks import (
    FAMILIES,
    Curve,
    ScopeAnswers,
    arm_curves,
    ceiling_curves,
    ranks_by_scope,
)
from runner.report.html.plots import CEILING, arm_class, component_class, names
from runner.report.html.questions import AnsweringSystem, questions, texts_of
from runner.report.render import template, template_values
from runner.runs.run import Run

PAGE, TEMPLATE = "report.html", "pgmnemo/page/5"
GENERATOR, HEAD = re.compile(r'<meta name="generator" content="(pgmnemo/page/[0-9]+)">'), 4096
FOLDER = Path(__file__).parent
STYLES = ("base.css", "plots.css", "questions.css", "print.css")
SCRIPTS = ("unpack.js", "theme.js", "scope.js", "recall.js", "measure.js", "detail.js", "questions.js")
Curves = Mapping[str, Mapping[str, Curve]]  # arm → family → curve


@dataclass(frozen=True, slots=True)
class PageComparison:
    """The comparison with another run: what `compare --json` prints, and the raw rows of that run."""

    document: Json
    rows: Iterable[Retrieval]


@dataclass(frozen=True, slots=True)
class CorpusTexts:
    """Texts of the corpus: by question, and by project and segment. No artefact contains them."""

    questions: Mapping[str, str]
    segments: Mapping[tuple[str, str], str]


def page_template(text: str) -> str:
    """Return the name of the template that made a page; empty if the page names none."""
    found = GENERATOR.search(text[:HEAD])
    return found[1] if found else ""


@cache
def inline_assets(names: tuple[Path | str, ...]) -> str:
    """Return styles or scripts one after another; a name is a file in `assets`, or a path."""
    return "\n".join((FOLDER / "assets" / name).read_text(encoding="utf-8").strip() for name in names)


def page_frame(styles: tuple[Path | str, ...], scripts: tuple[Path | str, ...]) -> dict[str, object]:
    """Return the values that every page template needs: style, script, and the script policy."""
    script = inline_assets(scripts)
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    return {
        "style": Markup(inline_assets(styles)), "script": Markup(script), "script_source": f"sha256-{allowed}"
    }  # fmt: skip


def render_page(
    metrics: Mapping[str, Any],
    run: Run,
    rows: Iterable[Retrieval],
    timings: Iterable[tuple[str, str, float]],
    *,
    compared_with: PageComparison | None = None,
    texts: CorpusTexts | None = None,
) -> str:
    """Return the text of report.html.

    `rows` are the rows of raw_retrievals.jsonl with their components, `timings` (arm, scope, seconds) those
    of timings.jsonl. Raises OutputError for a blocked run and for a run without a ranking.
    """
    if run.verdict is Verdict.BLOCKED:
        raise OutputError(f"{run.name} is blocked and has no report: read its BLOCKED.md")
    figures, scopes = Figures(metrics, run.headline_view), ranks_by_scope(rows)
    if not scopes:
        raise OutputError(f"{run.name} has no ranking to show")
    curves = {name: _curves(scope, figures) for name, scope in scopes.items()}
    header, packed = _data(run, figures, scopes, curves, compared_with, texts)
    document = compared_with.document if compared_with else None
    classes = {arm: arm_class(arm, figures.arms) for arm in figures.arms}
    words = {CEILING: "the best that any ranking can reach with this gold"}
    words |= {arm.name: arm.words for arm in run.arms}
    return template(FOLDER / "templates" / "page.html.j2").render(
        **template_values(metrics, run, figures),
        **page_frame(STYLES, SCRIPTS),
        opening=summary,
        places=[
            _place(metrics, run, figures, scopes[name], curves[name], document) for name in header["scopes"]
        ],
        classes=classes,
        legend=[(arm, class_, words.get(arm, "")) for arm, class_ in classes.items()],
        latency=panels.latency_panels(run, timings),
        versus=document,
        side_words=panels.side_words,
        with_text=texts is not None,
        data=_embedded(header),
        packed=packed,
        template=TEMPLATE,
    )


def _curves(scope: ScopeAnswers, figures: Figures) -> Curves:
    """Return the recall curves of each arm and the ceiling.

    They reach to the deepest rank that is kept or named by a recall.
    """
    kept = max(len(row.ranking) for answers in scope.answers.values() for row in answers.values())
    parted = (name.partition("@") for name in figures.names)  # the k of other metrics may count tokens
    named = max((int(k) for family, _, k in parted if family in FAMILIES), default=1)
    depth = max(kept, named)
    listed = {arm: arm_curves(scope, arm, depth) for arm in figures.arms if arm in scope.answers}
    return {**listed, CEILING: ceiling_curves(scope, depth)}


def _place(
    metrics: Mapping[str, Any],
    run: Run,
    figures: Figures,
    scope: ScopeAnswers,
    curves: Curves,
    document: Json | None,
) -> dict[str, Any]:
    """Return the plots of one search scope, by section."""
    arms = [arm for arm in figures.arms if arm in scope.answers]
    edges = sorted({1, *_cutoffs(figures)})
    bars, judged = panels.component_bars(run, scope, run.system)
    entry = next(one for one in run.scopes if one.name == scope.name)
    return {
        "name": scope.name,
        "words": formats.scope_words(entry, run.corpus.segments),
        "smallest": int(scope.sizes.min()),
        "depth": len(curves[CEILING]["recall_any"]),
        "recall": panels.recall_panels(figures, run, scope, curves),
        "types": panels.type_panels(figures, run, scope.name),
        "ranks": panels.rank_bars(figures, scope, arms, edges),
        "rank_names": names(edges, f"not in {edges[-1]}"),
        "components": bars,
        "judged": judged,
        "differences": panels.difference_panels(metrics, figures, run, scope.name),
        "forest": panels.forest(document, run.headline, scope.name) if document else [],
    }


def _cutoffs(figures: Figures) -> list[int]:
    """Return every k at which recall is counted, ascending."""
    return sorted(int(n.partition("@")[2]) for n in figures.names if n.startswith("recall_any@"))


def _data(
    run: Run,
    figures: Figures,
    scopes: Mapping[str, ScopeAnswers],
    curves: Mapping[str, Curves],
    compared_with: PageComparison | None,
    texts: CorpusTexts | None,
) -> tuple[Json, str]:
    """Return the data for the page's script: a header, and the packed columns."""
    parts = panels.components(run)
    listed = [_contestant(arm, figures, scopes) for arm in figures.arms if arm != CEILING]
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
    header["texts"] = texts_of(scopes, listed[0].name, texts.questions, texts.segments) if texts else None
    return header, packed


def _contestant(arm: str, figures: Figures, scopes: Mapping[str, ScopeAnswers]) -> AnsweringSystem:
    answers = {name: scope.answers.get(arm, {}) for name, scope in scopes.items()}
    ranks = {name: scope.ranks(arm) for name, scope in scopes.items() if arm in scope.answers}
    return AnsweringSystem(arm, arm, arm_class(arm, figures.arms), answers, ranks)


def _other(compared_with: PageComparison, scopes: Mapping[str, ScopeAnswers]) -> AnsweringSystem:
    """Return the compared run's system under test, which the page lists after the arms."""
    side = compared_with.document["baseline"]
    answers: dict[str, dict[str, Retrieval]] = {}
    for row in compared_with.rows:
        if row.arm == side["arm"]:
            answers.setdefault(row.scope, {})[row.question] = row
    ranks = {name: scope.ranks_of(answers[name]) for name, scope in scopes.items() if name in answers}
    label = f"{side['pgmnemo_version']} ({side['name']})"
    return AnsweringSystem("compared", label, "arm-compared", answers, ranks)


def _embedded(header: Json) -> Markup:
    """Return `header` as JSON that is safe inside an HTML script element."""
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
