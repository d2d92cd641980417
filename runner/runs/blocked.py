"""BLOCKED.md: why a run may not be cited, gate by gate, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from runner.escaping import line, markdown
from runner.records import GateResult, Status, Verdict
from runner.runs.metrics import METRICS
from runner.runs.privacy import public
from runner.runs.run import Run, write_run
from runner.runs.storage import write_file

BLOCKED = "BLOCKED.md"
FIELDS = ("where", "expected", "found", "resolve")


def write_blocked(folder: Path, run: Run) -> None:
    """Write BLOCKED.md and run.json for the failed gates of `run`; no metric and no report may remain.

    Raw rankings that were already retrieved stay: they explain a failure and cost hours to make again.
    """
    for name in (METRICS, "report.md"):
        (folder / name).unlink(missing_ok=True)
    write_run(folder, replace(run, verdict=Verdict.BLOCKED, latency=()))
    write_file(folder / BLOCKED, blocked_text(run.name, run.gates))


def blocked_text(name: str, gates: Iterable[GateResult]) -> str:
    """The text of BLOCKED.md for the gates that failed."""
    failed = [gate for gate in gates if gate.status is Status.FAILED]
    count = "1 gate failed" if len(failed) == 1 else f"{len(failed)} gates failed"
    told = f"{count}. No number of this run may be cited; run.json holds every gate."
    head = f"# BLOCKED: {_harmless(name)}\n\n{told}\n"
    return public(head + "".join(_section(gate) for gate in failed))


def _section(gate: GateResult) -> str:
    lines = (
        f"- **{field}:** {markdown(line(getattr(gate, field)))}" for field in FIELDS if getattr(gate, field)
    )
    return f"\n## {gate.gate}\n\n" + "\n".join(lines) + "\n"


def _harmless(text: str) -> str:
    """Somebody's words, such as a corpus's, on one line of Markdown."""
    return markdown(line(text))
