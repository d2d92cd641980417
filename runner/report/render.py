"""report.md, made only from metrics.json and run.json: the same two files give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from pgmnemo.errors import OutputError
from pgmnemo.escaping import escape_markdown
from pgmnemo.registry import Registry
from runner.records import Verdict
from runner.report import citation, formats, sections
from runner.report.component_comparison import compare_baseline_strategies, compare_with_components
from runner.report.formats import Figures
from runner.runs.run import Run, moment

SHARED = Path(__file__).parent / "html" / "templates"  # templates that every kind of page may include


@cache
def template(path: Path) -> Template:
    """Return the template in a file; its values are escaped only in HTML."""
    environment = Environment(
        loader=FileSystemLoader([path.parent, SHARED]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=".html" in path.suffixes,
    )
    return environment.get_template(path.name)


def stated_fields(run: Run) -> tuple[str, ...]:
    """Return the names of the edition's unchecked fields that have a value in run.json, in order."""
    document = run.document()
    return tuple(name for name in run.edition.stated if _said(document, name.split(".")))


def _said(value: Any, path: Sequence[str]) -> bool:
    """Return whether the value at `path` exists; for a list, whether any of its members has one."""
    if isinstance(value, list):
        return any(_said(one, path) for one in value)
    if path:
        return isinstance(value, Mapping) and path[0] in value and _said(value[path[0]], path[1:])
    return value not in (None, "") and value != {}


FOLDER = Path(__file__).with_name("templates")
RENDERERS: Registry[str] = Registry("report template", {"pgmnemo/report/6": "report.md.j2"})


def render(metrics: Mapping[str, Any], run: Run) -> str:
    """Return the text of report.md, by the template of the run's edition.

    Raises OutputError for a blocked run, which has no report, and if the documents are of two runs.
    """
    _check(metrics, run)
    name = run.edition.schemas.report
    text = template(FOLDER / RENDERERS[name]).render(
        **template_values(metrics, run, Figures(metrics, run.headline_view)), template=name
    )
    return escape_markdown(text)


def template_values(metrics: Mapping[str, Any], run: Run, figures: Figures) -> dict[str, object]:
    """Return the values that every report template needs."""
    return {
        "metrics": metrics,
        "run": run,
        "figures": figures,
        "legs": compare_with_components(metrics, run),
        "legs_beside": compare_baseline_strategies(metrics, run),
        "sections": sections,
        "stated": stated_fields(run),
        "formats": formats,
        "moment": moment,
        "cited": citation.citation(figures, run),
        "refusal": citation.refusal(figures, run),
        "command": citation.command(run),
        "embedder": run.embedder_name,
    }


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
    found = {name: metrics[name] == value for name, value in pins.items()}
    found["the corpus"] = metrics["corpus"]["sha256"] == run.corpus.sha256
    for pin, agrees in found.items():
        if not agrees:
            raise OutputError(
                f"metrics.json and run.json of {run.name} disagree on {pin}: two runs are mixed"
            )
