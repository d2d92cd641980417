"""Construction of a leaderboard from results folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from runner.commands.compare.compared_run import paired_values
from runner.commands.leaderboard.board import (
    VALUE,
    Board,
    BoardRow,
    ExcludedRun,
    GapToBest,
    Group,
    Leaderboard,
)
from runner.commands.leaderboard.verified_runs import (
    VerifiedRun,
    Verify,
    condition_differences,
    condition_words,
    read_entry,
    results_folders,
)
from runner.protocol.statistics.bootstrap import bootstrap_difference
from runner.records import ALL, SearchScope
from runner.report.formats import questions_of
from runner.runs.results import collector_paused
from runner.verification import verify
from runner.verification.verification import signers_list

INTERVAL_DECIMALS = 6
NOT_RECORDED = "not recorded"


@collector_paused()
def leaderboard(
    folders: Iterable[str | PathLike[str]], *, allowed_signers: Path | None = None, check: Verify = verify
) -> Leaderboard:
    """Return a leaderboard of the runs in `folders`, each verified first.

    Runs under equal conditions share a board, the best run first, by the first of the protocol's headline
    metrics that all of them have. A folder may be a run, hold runs, or be a pattern of such. A run under
    other conditions gets a group of its own, with the reason; a run that is blocked, unverified or not intact
    is an ExcludedRun. `allowed_signers` is the list of signers whose signatures count (None: the
    repository's, if it has one). Raises UsageError for a folder that holds no run and for a list that cannot
    be read.
    """
    if allowed_signers is not None:
        check = partial(check, allowed_signers=signers_list(allowed_signers))
    places = results_folders(fspath(name) for name in folders)
    found = [read_entry(place, check) for place in places]
    groups = _groups(one for one in found if isinstance(one, VerifiedRun))
    made = tuple(_group(members, groups[0][0]) for members in groups)
    return Leaderboard(made, tuple(one for one in found if isinstance(one, ExcludedRun)))


def _groups(entries: Iterable[VerifiedRun]) -> list[list[VerifiedRun]]:
    """Group runs under equal conditions; the largest group first, equal sizes in the order of `entries`."""
    groups: list[list[VerifiedRun]] = []
    for entry in entries:
        alike = [group for group in groups if not any(condition_differences(group[0].side, entry.side))]
        if alike:
            alike[0].append(entry)
        else:
            groups.append([entry])
    return sorted(groups, key=len, reverse=True)


def _group(members: list[VerifiedRun], first: VerifiedRun) -> Group:
    run = members[0].side.run
    corpus, title = run.corpus, run.corpus.title
    of = "" if run.headline_view == ALL else f", {questions_of(run.headline_view)}"
    return Group(
        title=f"{title[0].upper()}{title[1:]}{of}, {run.choice.level} level, embedder {run.embedder_name}, "
        f"protocol {run.protocol.version}",
        alike=condition_words(members[0].side),
        apart=tuple(condition_differences(first.side, members[0].side)),
        citable=corpus.citable,
        boards=tuple(_board(members, scope) for scope in run.scopes),
    )


def _board(members: Sequence[VerifiedRun], scope: SearchScope) -> Board:
    name, headline = scope.name, members[0].side.run.headline
    shown = [metric for metric in headline if all(_row(one, name, metric) for one in members)]
    ordered = sorted(members, key=lambda one: _standing(one, name, shown))
    led = [_row(one, name, shown[0])["value"] for one in ordered]
    rows = tuple(
        _made(1 + led.index(value), one, _label(one, members), name, shown, ordered[0])
        for value, one in zip(led, ordered, strict=True)
    )
    return Board(name, scope.pooled, int(rows[0].values[0]["n"]), shown[0], rows)


def _row(entry: VerifiedRun, scope: str, metric: str) -> Any:
    return entry.side.figures.row(entry.side.system, scope, metric)


def _standing(entry: VerifiedRun, scope: str, metrics: Sequence[str]) -> tuple[Any, ...]:
    """Return a sort key for the rows of a board: the metrics, higher values first, then the start time."""
    return (*(-_row(entry, scope, metric)["value"] for metric in metrics), entry.side.run.started)


def _label(entry: VerifiedRun, members: Sequence[VerifiedRun]) -> str:
    """Return the shortest end of the run's path that distinguishes it from the other members."""
    own, others = _parts(entry), [_parts(one) for one in members if one is not entry]
    depth = next((n for n in range(1, len(own)) if all(own[-n:] != parts[-n:] for parts in others)), len(own))
    return "/".join(own[-depth:])


def _parts(entry: VerifiedRun) -> tuple[str, ...]:
    return (*entry.folder.resolve().parts[1:-1], entry.side.name)


def _made(
    rank: int, entry: VerifiedRun, label: str, scope: str, shown: Sequence[str], best: VerifiedRun
) -> BoardRow:
    return BoardRow(
        rank=rank,
        name=entry.side.name,
        label=label,
        folder=entry.folder.as_posix(),
        version=entry.side.version,
        day=f"{entry.side.run.started:%Y-%m-%d}",
        verdict=entry.side.as_reported.verdict.value,
        attested=entry.attested,
        tuned_on=entry.side.run.systems[0].tuned_on or NOT_RECORDED,
        deviations=tuple(map(str, entry.side.as_reported.deviations)),
        values=tuple({name: _row(entry, scope, metric)[name] for name in VALUE} for metric in shown),
        behind=None if entry is best else _behind(best, entry, scope, shown[0]),
    )


def _behind(best: VerifiedRun, entry: VerifiedRun, scope: str, metric: str) -> GapToBest:
    """Return the difference to the best run, by the studentised bootstrap that `compare` uses."""
    [paired] = (one for one in paired_values(best.side, entry.side) if one.scope == scope)
    place = [known.name for known in paired.metrics].index(metric)
    chosen = paired.inside(best.side.run.views, best.side.run.headline_view)
    moves = paired.moves[chosen][:, [place]]
    found = bootstrap_difference(moves, paired.clusters(chosen)).interval
    ends = (found.value, found.low, found.high)
    value, low, high = (round(float(end[0]), INTERVAL_DECIMALS) + 0.0 for end in ends)
    return GapToBest(metric, value, low, high, told_apart=high < 0 or low > 0)
