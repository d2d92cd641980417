"""A run as a BibTeX entry."""

from __future__ import annotations

import re

from runner.claims.cite.results import Results
from runner.report.citation import artefact_path, version

SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"→": r"$\rightarrow$", "\n": " ", "§": r"\S"})
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(results: Results, text: str) -> str:
    """One `@misc` entry whose note is the whole citation, so that the label cannot be left behind."""
    run = results.run
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"pgmnemo-{run['corpus']['suite']}-{run['name']}").strip("-")
    year, month = str(run["started"])[:4], MONTHS[int(str(run["started"])[5:7]) - 1]
    title = f"Recall of {{pgmnemo}} {version(run)} on {{{run['corpus']['title']}}}"
    fields = {
        "title": f"{{{title}}}",
        "author": "{{The authors of pgmnemo-bench}}",
        "year": f"{{{year}}}",
        "month": month,
        "howpublished": f"{{\\url{{{artefact_path(run)}}}}}",
        "note": f"{{{text.translate(SPECIAL)}}}",
    }
    lines = (f"  {name:<12} = {value}" for name, value in fields.items())
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"
