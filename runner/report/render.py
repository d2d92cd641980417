"""report.md, from metrics.json and run.json and nothing else: the same two give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import OutputError
from runner.escaping import markdown
from runner.records import Verdict
from runner.registry import Registry
from runner.report import citation, formats, sections
from runner.report.figures import Figures
from runner.report.legs import against_legs, legs_beside
from runner.report.stated import stated
from runner.report.templating import template as read
from runner.runs.run import Run, moment

FOLDER = Path(__file__).with_name("templates")
RENDERERS: Registry[str] = Registry(
    "report template",
    {
        "pgmnemo/report/1": "report-2.md.j2",  # 2 says what passages the lessons had, where there are any
        "pgmnemo/report/2": "report-2.md.j2",
        "pgmnemo/report/3": "report-3.md.j2",
        "pgmnemo/report/4": "report-4.md.j2",  # 3, and how hybrid stands to its legs
        "pgmnemo/report/5": "report-5.md.j2",  # 4, and what nothing can check
    },
)


def render(metrics: Mapping[str, Any], run: Run) -> str:
    """The text of report.md, by the template of the run's edition.

    Raises OutputError for a blocked run, which has no report, and when the documents are of two runs.
    """
    _check(metrics, run)
    figures, template = Figures(metrics, run.headline_view), run.edition.schemas.report
    text = read(FOLDER / RENDERERS[template]).render(
        metrics=metrics,
        run=run,
        figures=figures,
        legs=against_legs(metrics, run),
        legs_beside=legs_beside(metrics, run),
        sections=sections,
        stated=stated(run),
        formats=formats,
        moment=moment,
        cited=citation.citation(figures, run),
        refusal=citation.refusal(figures, run),
        command=citation.command(run),
        embedder=run.embedder_name,
        template=template,
    )
    return markdown(text)


def _check(metrics: Mapping[str, Any], run: Run) -> None:
    if run.verdict is Verdict.BLOCKED:
        raise OutputError(f"{run.name} is blocked and has no report: read its BLOCKED.md")
    pins = {
        "protocol_sha256": run.protocol.sha256,
        "verdict": run.verdict,
        "headline": list(run.headline),
        "seed": run.seed,
        "guc_state": run.guc_state,
    }
    for pin, value in pins.items():
        if metrics[pin] != value:
            raise OutputError(
                f"metrics.json and run.json of {run.name} disagree on {pin}: two runs are mixed"
            )
    if metrics["corpus"]["sha256"] != run.corpus.sha256:
        raise OutputError(
            f"metrics.json and run.json of {run.name} disagree on the corpus: two runs are mixed"
        )
