"""Is report.html, where there is one, what the other artefacts make of it?

It is derived and stands in no manifest: whoever has the artefacts can render it again, in a newer form too.
So it is held against them and not against a hash, and no byte of it can say what they do not.
"""

from __future__ import annotations

from runner.claims.verify.check import NotAsked, Wrong
from runner.claims.verify.checks.schema import differing_line
from runner.claims.verify.evidence import Evidence
from runner.claims.verify.rendering import page as render
from runner.report.html import PAGE, TEMPLATE


def page(evidence: Evidence) -> str:
    """Rendered anew by this checkout's template."""
    if not (evidence.folder / PAGE).exists():
        raise NotAsked(f"there is no {PAGE}; `python -m runner report` renders one")
    found, wanted = evidence.text(PAGE), render(evidence)
    if found != wanted:
        raise Wrong(
            f"{PAGE}, line {differing_line(found, wanted)}, is not what {TEMPLATE} makes of the run: "
            "render it anew with `python -m runner report`, or remove it"
        )
    return f"{PAGE} comes out of the other artefacts again, to the byte ({TEMPLATE})"
