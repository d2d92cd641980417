"""A run as a BibTeX entry."""

from __future__ import annotations

import re

from runner.cite.results import Cited
from runner.report.citation import version

SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"→": r"$\rightarrow$", "\n": " ", "§": r"\S"})
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(results: Cited, text: str) -> str:
    """One `@misc` entry whose note is the whole citation, so that the label cannot be left behind."""
    run = results.run
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"pgmnemo-{run.choice.suite}-{run.name}").strip("-")
    year, month = f"{run.started:%Y}", MONTHS[run.started.month - 1]
    system = f"{{pgmnemo}} {version(run)}" if run.choice.ours else f"{{{version(run)}}}"
    title = f"Recall of {system} on {{{run.corpus.title}}}"
    fields = {
        "title": f"{{{title}}}",
        "author": "{{The authors of pgmnemo-bench}}",
        "year": f"{{{year}}}",
        "month": month,
        "howpublished": f"{{\\url{{{run.path}}}}}",
        "note": f"{{{text.translate(SPECIAL)}}}",
    }
    lines = (f"  {name:<12} = {value}" for name, value in fields.items())
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"
