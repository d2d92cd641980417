"""A run as a BibTeX entry."""

from __future__ import annotations

import re
from urllib.parse import quote

from runner import escaping
from runner.cite.results import Cited
from runner.report.citation import version

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(results: Cited, text: str) -> str:
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
