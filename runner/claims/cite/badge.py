"""A badge: one SVG, drawn without network, script or a font of its own."""

from __future__ import annotations

from html import escape

from runner.claims.cite.results import Results
from runner.report.citation import CITED, citation, share, version

COLOURS = {"verified": "#1a7f37", "deviation": "#9a6700"}  # white text on either: contrast above 4.5
GREY = "#444c56"
HEIGHT, PADDING, CHARACTER = 20, 8, 6.6  # px; the width of a character is forced with textLength
TEXT = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height}" \
viewBox="0 0 {width:g} {height}" role="img" aria-labelledby="title">
  <title id="title">{title}</title>
  <desc>{desc}</desc>
  <rect width="{left:g}" height="{height}" fill="{grey}"/>
  <rect x="{left:g}" width="{right:g}" height="{height}" fill="{colour}"/>
  <g fill="#ffffff" font-family="sans-serif" font-size="11">
    <text x="{left_text}" y="14" textLength="{left_length:g}" lengthAdjust="spacingAndGlyphs">{label}</text>
    <text x="{right_text:g}" y="14" textLength="{right_length:g}" \
lengthAdjust="spacingAndGlyphs">{message}</text>
  </g>
</svg>
"""


def badge(results: Results) -> str:
    """The SVG: what was measured, under which protocol, and the value with its verdict.

    The whole citation stands in its description, so that the picture carries it wherever it goes.
    """
    run, figures = results.run, results.figures
    row = figures.row(run["arms"][0]["name"], run["scopes"][0]["name"], CITED)
    value = "" if row is None else share(row["value"])
    label = f"{run['corpus']['title']} {CITED}, protocol {run['protocol']['version']}"
    message = f"{value} {run['verdict']}"
    left, right = _width(label), _width(message)
    return TEXT.format(
        width=left + right,
        height=HEIGHT,
        title=escape(f"pgmnemo {version(run)}: {label}: {message}"),
        desc=escape(citation(figures, run) or ""),
        left=left,
        right=right,
        grey=GREY,
        colour=COLOURS[run["verdict"]],
        left_text=PADDING,
        left_length=left - 2 * PADDING,
        right_text=left + PADDING,
        right_length=right - 2 * PADDING,
        label=escape(label),
        message=escape(message),
    )


def _width(text: str) -> float:
    return round(len(text) * CHARACTER + 2 * PADDING, 1)
