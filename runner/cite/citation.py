"""The release-note paragraph of protocol §8, from the artefacts of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.cite.badge import badge
from runner.cite.bibtex import bibtex
from runner.cite.comparable import difference, not_earlier
from runner.cite.holding import demand_sound
from runner.cite.results import Cited, citable, read_cited
from runner.errors import UsageError
from runner.escaping import markdown
from runner.report.citation import citation, verdict_words, version
from runner.runs.alike import asked


@dataclass(frozen=True, slots=True)
class Citation:
    """What may be published of a run: `text` for release notes, `bibtex` for papers, `badge` as SVG.

    `notes` are sentences for whoever publishes it; they are no part of the citation.
    """

    text: str
    bibtex: str
    badge: str
    notes: tuple[str, ...] = ()


def cite(folder: Path | str, *, previous: Path | str | None = None) -> Citation:
    """The citation of the run in `folder`, beside the value of the run in `previous` when given.

    Deviations that HISTORY.md added later are labels of the citation, too. Raises RefusedError when either is
    blocked, unverified, withdrawn or otherwise not citable, when a quick check of `verify` finds a fault and
    when the headline does not follow from the raw rankings; UsageError when the two may not stand beside each
    other.
    """
    after = citable(read_cited(folder))
    before = None if previous is None else _beside(citable(read_cited(previous)), after)
    for results in (after, *([] if before is None else [before])):
        demand_sound(results)
    text = _text(after, before)
    return Citation(text, bibtex(after, text), badge(after), tuple(_notes(after, before)))


def paragraph(after: Cited, before: Cited | None = None) -> str:
    """The paragraph alone, of metrics.json as it stands; raises as `cite` does but for the raw rankings."""
    return _text(citable(after), None if before is None else _beside(citable(before), after))


def _beside(before: Cited, after: Cited) -> Cited:
    counted = (asked(before.metrics, before.run), asked(after.metrics, after.run))
    apart = difference(before.run, after.run, counted) or not_earlier(before.run, after.run)
    if apart is not None:
        raise UsageError(
            f"{before.folder} is no previous value of {after.folder}: {apart} (protocol §8); "
            "cite without --previous"
        )
    return before


def _text(after: Cited, before: Cited | None) -> str:
    pair = None if before is None else (before.figures, before.told)
    text = markdown(citation(after.figures, after.told, pair) or "")
    if before is None:
        return text
    run = before.told
    return markdown(f"{text}\nPrevious: {version(run)}, {verdict_words(run)}. Artefacts: {run.path}")


def _notes(*runs: Cited | None) -> list[str]:
    """Where the folder is not, or not yet, what the citation says it is."""
    return [
        f"{results.folder} is cited as {results.run.path}: commit it there, with its entry in "
        "HISTORY.md, before the citation is published"
        for results in runs
        if results and not results.folder.resolve().as_posix().endswith(results.run.path.rstrip("/"))
    ]
