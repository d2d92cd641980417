"""A run as a badge and as a BibTeX entry: two forms of its citation."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from pgmnemo import escaping
from pgmnemo.escaping import markup
from runner.commands.compare.side import Side
from runner.records import ALL
from runner.report.citation import citation, version
from runner.report.formats import CITED, figure, questions_of
from runner.report.render import template

COLOURS = {"verified": "#1a7f37", "deviation": "#9a6700"}  # white text on either: contrast above 4.5
BADGE = Path(__file__).parent / "templates" / "badge.svg.j2"
GREY = "#444c56"
PADDING, SIZE = 8, 11  # px, as in the template
WIDTHS = {" ',.ijlI": 0.31, "frt-()[]/:;|!": 0.37, "mwMW@%": 0.93}  # of Verdana and DejaVu Sans, in em
CAPITAL, USUAL = 0.69, 0.61


def badge(results: Side) -> str:
    """The SVG: what was measured, under which protocol, and the value with its verdict.

    The whole citation stands in its description, so that the picture carries it wherever it goes.
    """
    run, figures = results.told, results.figures
    row = figures.row(run.system, run.scopes[0].name, CITED)
    value = "" if row is None else f"{figure(CITED, row['value'])} %"
    of = "" if figures.view == ALL else f" of {questions_of(figures.view)}"
    label = f"{run.corpus.title} {CITED}{of}, protocol {run.protocol.version}"
    message = f"{value} {run.verdict}"
    left, right = _width(label), _width(message)
    return template(BADGE).render(
        width=f"{left + right:g}",
        title=markup(f"{run.title}: {label}: {message}"),
        description=markup(citation(figures, run) or ""),
        parts=[_part(label, 0, left, GREY), _part(message, left, right, COLOURS[run.verdict])],
    )


def _part(words: str, x: float, width: float, fill: str) -> dict[str, str]:
    numbers = {"x": x, "width": width, "at": x + PADDING, "length": width - 2 * PADDING}
    return {"words": markup(words), "fill": fill} | {name: f"{one:g}" for name, one in numbers.items()}


def _width(text: str) -> float:
    """Width of a part of the badge, px. The text is spaced to fit, so that another font changes nothing."""
    return round(SIZE * sum(map(_em, text)) + 2 * PADDING, 1)


def _em(character: str) -> float:
    usual = CAPITAL if character.isupper() else USUAL
    return next((width for members, width in WIDTHS.items() if character in members), usual)


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(results: Side, text: str) -> str:
    """One `@misc` entry whose note is the whole citation, so that the label cannot be left behind."""
    run = results.run
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"pgmnemo-{run.choice.suite}-{run.name}").strip("-")
    year, month = f"{run.started:%Y}", MONTHS[run.started.month - 1]
    measured, corpus = escaping.bibtex(version(run)), escaping.bibtex(run.corpus.title)
    system = f"{{pgmnemo}} {measured}" if run.choice.ours else f"{{{measured}}}"
    title = f"Recall of {system} on {{{corpus}}}"
    fields = {
        "title": f"{{{title}}}",
        "author": "{{The authors of pgmnemo-bench}}",
        "year": f"{{{year}}}",
        "month": month,
        "howpublished": f"{{\\url{{{quote(run.path)}}}}}",
        "note": f"{{{escaping.bibtex(text)}}}",
    }
    lines = (f"  {name:<12} = {value}" for name, value in fields.items())
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"
