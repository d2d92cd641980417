"""Does report.md come out of metrics.json and run.json again, to the byte?"""

from __future__ import annotations

from runner.claims.verify.check import Wrong
from runner.claims.verify.checks.schema import differing_line
from runner.claims.verify.evidence import REPORT, Evidence
from runner.claims.verify.versions import TEMPLATES


def report(evidence: Evidence) -> str:
    """Rendered anew by the template that the manifest names."""
    if (template := evidence.schemas.get(REPORT) or "none") not in TEMPLATES:
        raise Wrong(f"{REPORT} names the template {template}; known here: {', '.join(TEMPLATES)}")
    found = evidence.text(REPORT)
    wanted = TEMPLATES[template](evidence.metrics, evidence.run)
    if found != wanted:
        raise Wrong(
            f"{REPORT}, line {differing_line(found, wanted)}, is not what {template} makes of the run"
        )
    return f"{REPORT} comes out of metrics.json and run.json again, to the byte ({template})"
