"""A badge: one SVG, drawn without network, script or a font of its own."""

from __future__ import annotations

from runner.cite.results import Cited
from runner.escaping import markup
from runner.records import ALL
from runner.report.citation import citation
from runner.report.formats import CITED, figure, questions_of

COLOURS = {"verified": "#1a7f37", "deviation": "#9a6700"}  # white text on either: contrast above 4.5
GREY = "#444c56"
HEIGHT, PADDING, SIZE = 20, 8, 11  # px
WIDTHS = {" ',.ijlI": 0.31, "frt-()[]/:;|!": 0.37, "mwMW@%": 0.93}  # of Verdana and DejaVu Sans, in em
CAPITAL, USUAL = 0.69, 0.61


def badge(results: Cited) -> str:
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
    title, desc = markup(f"{run.title}: {label}: {message}"), markup(citation(figures, run) or "")
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:g}" height="{HEIGHT}" \
viewBox="0 0 {left + right:g} {HEIGHT}" role="img" aria-labelledby="title">
  <title id="title">{title}</title>
  <desc>{desc}</desc>
  <clipPath id="corners"><rect width="{left + right:g}" height="{HEIGHT}" rx="3"/></clipPath>
  <g clip-path="url(#corners)">
    <rect width="{left:g}" height="{HEIGHT}" fill="{GREY}"/>
    <rect x="{left:g}" width="{right:g}" height="{HEIGHT}" fill="{COLOURS[run.verdict]}"/>
  </g>
  <g fill="#ffffff" font-family="Verdana,'DejaVu Sans',sans-serif" font-size="{SIZE}">
    <text x="{PADDING}" y="14" textLength="{left - 2 * PADDING:g}">{markup(label)}</text>
    <text x="{left + PADDING:g}" y="14" textLength="{right - 2 * PADDING:g}">{markup(message)}</text>
  </g>
</svg>
"""


def _width(text: str) -> float:
    """Width of a part of the badge, px. The text is spaced to fit, so that another font changes nothing."""
    return round(SIZE * sum(map(_em, text)) + 2 * PADDING, 1)


def _em(character: str) -> float:
    usual = CAPITAL if character.isupper() else USUAL
    return next((width for members, width in WIDTHS.items() if character in members), usual)
