"""report.md, from metrics.json and run.json and nothing else: the same two give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from runner.errors import OutputError
from runner.report import citation, formats, sections
from runner.report.figures import Figures

TEMPLATE = "pgmnemo/report/2"  # since 2 it says what passages the lessons had, where run.json does
FOLDER = Path(__file__).with_name("templates")


def render(metrics: Mapping[str, Any], run: Mapping[str, Any], template: str = TEMPLATE) -> str:
    """The text of report.md, by one of the `TEMPLATES`.

    Raises OutputError for a blocked run, which has no report, and when the documents are of two runs.
    """
    _check(metrics, run)
    figures = Figures(metrics)
    return _template().render(
        metrics=metrics,
        run=run,
        figures=figures,
        sections=sections,
        formats=formats,
        cited=citation.citation(figures, run),
        refusal=citation.refusal(figures, run),
        command=citation.command(run),
        embedder=citation.embedder_name(run),
        template=template,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("report.md.j2")


def _check(metrics: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    if run["verdict"] == "blocked":
        raise OutputError(f"{run['name']} is blocked and has no report: read its BLOCKED.md")
    for pin in ("pgmnemo_version", "verdict", "corpus", "embedder", "headline", "seed", "guc_state"):
        if metrics[pin] != run[pin]:
            raise OutputError(
                f"metrics.json and run.json of {run['name']} disagree on {pin}: two runs are mixed"
            )
