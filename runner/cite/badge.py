"""A badge: one SVG, drawn without network, script or a font of its own."""

from __future__ import annotations

from html import escape

from runner.cite.results import Cited
from runner.report.citation import citation, share
from runner.report.formats import CITED

COLOURS = {"verified": "#1a7f37", "deviation": "#9a6700"}  # white text on either: contrast above 4.5
GREY = "#444c56"
HEIGHT, PADDING, SIZE = 20, 8, 11  # px
WIDTHS = {" ',.ijlI": 0.31, "frt-()[]/:;|!": 0.37, "mwMW@%": 0.93}  # of Verdana and DejaVu Sans, in em
CAPITAL, USUAL = 0.69, 0.61
TEXT = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height}" \
viewBox="0 0 {width:g} {height}" role="img" aria-labelledby="title">
  <title id="title">{title}</title>
  <desc>{desc}</desc>
  <clipPath id="corners"><rect width="{width:g}" height="{height}" rx="3"/></clipPath>
  <g clip-path="url(#corners)">
    <rect width="{left:g}" height="{height}" fill="{grey}"/>
    <rect x="{left:g}" width="{right:g}" height="{height}" fill="{colour}"/>
  </g>
  <g fill="#ffffff" font-family="Verdana,'DejaVu Sans',sans-serif" font-size="{size}">
    <text x="{left_text}" y="14" textLength="{left_length:g}">{label}</text>
    <text x="{right_text:g}" y="14" textLength="{right_length:g}">{message}</text>
  </g>
</svg>
"""


def badge(results: Cited) -> str:
    """The SVG: what was measured, under which protocol, and the value with its verdict.

    The whole citation stands in its description, so that the picture carries it wherever it goes.
    """
    run, figures = results.run, results.figures
    row = figures.row(run.system, run.scopes[0].name, CITED)
    value = "" if row is None else share(row["value"])
    label = f"{run.corpus.title} {CITED}, protocol {run.protocol.version}"
    message = f"{value} {run.verdict}"
    left, right = _width(label), _width(message)
    return TEXT.format(
        width=left + right,
        height=HEIGHT,
        size=SIZE,
        title=escape(f"{run.title}: {label}: {message}"),
        desc=escape(citation(figures, run) or ""),
        left=left,
        right=right,
        grey=GREY,
        colour=COLOURS[run.verdict],
        left_text=PADDING,
        left_length=left - 2 * PADDING,
        right_text=left + PADDING,
        right_length=right - 2 * PADDING,
        label=escape(label),
        message=escape(message),
    )


def _width(text: str) -> float:
    """Of a part of the badge, in px. The text is spaced to fit it, so that another font changes nothing."""
    return round(SIZE * sum(map(_em, text)) + 2 * PADDING, 1)


def _em(character: str) -> float:
    usual = CAPITAL if character.isupper() else USUAL
    return next((width for members, width in WIDTHS.items() if character in members), usual)
