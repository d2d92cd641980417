"""A run's citation in two forms: the release-note paragraph of protocol §8, and a BibTeX entry.

Both are made from the artefacts of a run whose quick checks hold.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from pgmnemo import escaping
from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.escaping import escape_markdown
from pgmnemo.paths import release_numbers
from runner.commands.compare.compared_run import ComparedRun
from runner.errors import UnusableRunError
from runner.naming import SystemName
from runner.protocol.metrics.document import figure_row
from runner.protocol.metrics.score import score
from runner.records import ALL, Json
from runner.report.citation import CITABLE, citation, refusal, share, verdict_words, version
from runner.report.formats import CITED, trivial
from runner.runs.canonical import compact
from runner.runs.comparability import differences, headline_questions
from runner.runs.folder import is_local
from runner.runs.history import withdrawal
from runner.runs.raw import RAW, decode
from runner.runs.results import read_results
from runner.runs.run import Run
from runner.runs.timings import SUFFIX
from runner.verification.checks import CHECKS
from runner.verification.context import HOSTILE, CheckStatus, RunContext

CHANCE = "random"
QUICK = ("complete", "manifest", "history", "commit", "record", "report", "timings")
"""Checks that take a fraction of a second together: none of them looks at every ranking."""


@dataclass(frozen=True, slots=True)
class Citation:
    """The citation of a run: `text` for release notes, `bibtex` for papers.

    `notes` are sentences for the publisher; they are no part of the citation.
    """

    text: str
    bibtex: str
    notes: tuple[str, ...] = ()


def cite(folder: Path | str, *, previous: Path | str | None = None) -> Citation:
    """Return the citation of the run in `folder`; with `previous`, also the value of that earlier run.

    Deviations that HISTORY.md added later are also labels of the citation. Raises UnusableRunError when a
    run is blocked, unverified, withdrawn or otherwise not citable, when a quick check of `verify` finds a
    fault, and when the headline does not follow from the raw rankings. Raises UsageError when the two
    runs are not comparable.
    """
    after = check_citable(read_cited(folder))
    before = None if previous is None else _comparable(check_citable(read_cited(previous)), after)
    runs = [after] if before is None else [after, before]
    for results in runs:
        check_sound(results)
    text = _text(after, before)
    notes = tuple(note for results in runs for note in _notes(results))
    return Citation(text, bibtex(after, text), notes)


def paragraph(after: ComparedRun, before: ComparedRun | None = None) -> str:
    """Return the release-note paragraph, from the figures in metrics.json.

    Raises what `cite` raises, except for faults of the raw rankings.
    """
    return _text(check_citable(after), None if before is None else _comparable(check_citable(before), after))


def _text(after: ComparedRun, before: ComparedRun | None) -> str:
    pair = None if before is None else (before.figures, before.as_reported)
    text = escape_markdown(
        "\n".join([citation(after.figures, after.as_reported, pair) or "", *_beside(after)])
    )
    if before is None:
        return text
    run = before.as_reported
    return escape_markdown(f"{text}\nPrevious: {version(run)}, {verdict_words(run)}. Artefacts: {run.path}")


def _beside(results: ComparedRun) -> list[str]:
    """Return a line about the run's best other arms and its random order; empty if the run has neither.

    They are compared by the first headline metric that is not trivial. Arms with the same value are all
    named. The reranked arm of the system under test is not another arm.
    """
    run, figures, scope = results.as_reported, results.figures, results.run.scopes[0].name
    metric = next((str(row["metric"]) for row in figures.headline(run) if not trivial(row)), CITED)
    rows = [(arm, float(row["value"])) for arm in run.arms if (row := figures.row(arm.name, scope, metric))]
    own = (run.system, f"{run.system}{SUFFIX}", CHANCE)
    most = max((value for arm, value in rows if arm.name not in own), default=None)
    best = [f"{arm.name} ({arm.words})" for arm, value in rows if arm.name not in own and value == most]
    told = [] if most is None else [f"{' and '.join(best)} {share(most)}"]
    told += [f"chance (a random order) {share(value)}" for arm, value in rows if arm.name == CHANCE]
    return [f"Best of the others in the same run, by {metric}: {', '.join(told)}."] if told else []


def _notes(results: ComparedRun) -> list[str]:
    """Return a note if the folder is not at the path that the citation names."""
    if results.folder.resolve().as_posix().endswith(results.run.path.rstrip("/")):
        return []
    return [
        f"{results.folder} is cited as {results.run.path}: commit it there, with its entry in HISTORY.md, "
        "before the citation is published"
    ]


def _comparable(before: ComparedRun, after: ComparedRun) -> ComparedRun:
    """Return the earlier run.

    Raises UsageError with the first difference that makes the runs incomparable (§8).
    """
    if (found := _apart(before, after)) is not None:
        raise UsageError(
            f"{before.folder} is no previous value of {after.folder}: {found} (protocol §8); "
            "cite without --previous"
        )
    return before


def _apart(before: ComparedRun, after: ComparedRun) -> str | None:
    first, second = before.run, after.run
    if _unversioned(first) != _unversioned(second):
        return f"system {first.system} against {second.system}"
    if (found := next((f"{name} {words}" for name, words in differences(first, second)), None)) is not None:
        return found
    counted = [headline_questions(side.metrics, side.run) for side in (before, after)]
    if counted[0] != counted[1]:
        return f"n {counted[0]:,} against {counted[1]:,}"
    if release_numbers(first.version) < release_numbers(second.version):
        return None
    return f"version {first.version} is not earlier than {second.version}"


def _unversioned(run: Run) -> str:
    """Return the name of the system under test, without its version."""
    return str(replace(SystemName.of(run.choice.system), version=""))


def read_cited(folder: Path | str) -> ComparedRun:
    """Return the run in `folder`, with run.json and metrics.json checked against its manifest.

    Raises what `read_results` raises, and UnusableRunError for a run that HISTORY.md says was withdrawn:
    neither a citation nor a document may use it.
    """
    results = read_results(folder, ComparedRun)
    _ = results.edition  # an unknown edition is an error before any look-up
    if (why := withdrawal(results.later_deviations)) is not None:
        raise UnusableRunError(f"{folder} was withdrawn: HISTORY.md says: {why}; cite another run")
    return results


def check_citable(results: ComparedRun) -> ComparedRun:
    """Return `results`; raise UnusableRunError with the reason if the run may not be cited."""
    reason = refusal(results.figures, results.run)
    if reason is None:
        check_kept(results)
        return results
    if results.run.verdict not in CITABLE:
        reason += (
            " Its report.md says what the protocol does not know; a citable run has a registered corpus."
        )
    raise UnusableRunError(f"{results.folder}: {reason}")


def check_kept(results: ComparedRun) -> None:
    """Raise UnusableRunError for a run in local/, which exists only on this machine."""
    if is_local(results.folder):
        raise UnusableRunError(
            f"{results.folder} is not kept, so nobody could look it up: keep it with `python -m runner "
            f"history add {shlex.quote(str(results.folder))}`, and cite the folder that this prints"
        )


def check_findings(cited: ComparedRun, *names: str) -> None:
    """Raise UnusableRunError with the first fault that the named checks of `verify` find."""
    context = RunContext(cited.folder)
    for answer in (CHECKS[name](context) for name in names):
        if answer.found is CheckStatus.WRONG:
            raise _unsound(cited, f"{answer.check}: {answer.sentence}")


def check_sound(cited: ComparedRun) -> None:
    """Raise UnusableRunError if a quick check finds a fault, or the headline does not follow."""
    check_findings(cited, *QUICK)
    try:
        anew = _headline_anew(cited)
    except (*HOSTILE, PgmnemoError) as error:
        raise _unsound(cited, f"metrics: the headline cannot be computed anew ({error})") from None
    for name in cited.run.headline:
        if _row(cited, cited.metrics["results"], name) != _row(cited, anew, name):
            raise _unsound(cited, f"metrics: {name} does not follow from {RAW}")


def _headline_anew(cited: ComparedRun) -> list[Json]:
    """Compute the headline rows of the system under test again, from its raw rankings in the first scope."""
    run = cited.run
    marks = (compact({"arm": run.system})[1:-1], compact({"scope": run.scopes[0].name})[1:-1])
    lines = [line for line in cited.text(RAW).splitlines() if all(mark in line for mark in marks)]
    rows = [decode(line.encode(), f"{RAW}, a line of {run.system}") for line in lines]
    views = {view.name: view for view in run.views if view.name == run.headline_view}
    code = str(cited.metrics["metric_code"])
    found = score(
        rows, run.edition, views=views, clustered=run.corpus.clustered, cutoffs=run.cutoffs, code=code
    )
    return [figure_row(one) for one in found.results]


def _row(cited: ComparedRun, rows: list[Json], metric: str) -> Json | None:
    run = cited.run
    wanted = (run.system, run.scopes[0].name, run.headline_view, ALL, metric)
    names = ("arm", "scope", "view", "type", "metric")
    return next((one for one in rows if tuple(one[name] for name in names) == wanted), None)


def _unsound(cited: ComparedRun, fault: str) -> UnusableRunError:
    return UnusableRunError(
        f"{cited.folder} does not verify: {fault}; `python -m runner verify` says all that it found"
    )


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(results: ComparedRun, text: str) -> str:
    """Return an `@misc` entry whose note is the whole citation, including its labels."""
    run = results.run
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"pgmnemo-{run.choice.suite}-{run.name}").strip("-")
    year, month = f"{run.started:%Y}", MONTHS[run.started.month - 1]
    measured, corpus = escaping.escape_bibtex(version(run)), escaping.escape_bibtex(run.corpus.title)
    system = f"{{pgmnemo}} {measured}" if run.choice.ours else f"{{{measured}}}"
    title = f"Recall of {system} on {{{corpus}}}"
    fields = {
        "title": f"{{{title}}}",
        "author": "{{The authors of pgmnemo-bench}}",
        "year": f"{{{year}}}",
        "month": month,
        "howpublished": f"{{\\url{{{quote(run.path)}}}}}",
        "note": f"{{{escaping.escape_bibtex(text)}}}",
    }
    lines = (f"  {name:<12} = {value}" for name, value in fields.items())
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"
