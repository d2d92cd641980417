"""The differences that stand in the artefacts, or between two of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.cite.results import Cited
from runner.lint.artefacts import Row, Shelf, rows
from runner.lint.held.readings import Reading
from runner.lint.said.compared import Compared
from runner.lint.said.facets import ROW_FACETS, RUN_VALUES, defaults


def differences(
    reading: Reading, key: str, said: Compared, runs: Sequence[Cited], shelf: Shelf
) -> Iterator[tuple[float, Row | None]]:
    """Differences of the pair, each with its row where metrics.json has one."""
    for run in reading.runs:
        yield from _in_run(run, reading, key, said)
    yield from _between(reading, key, said, runs, shelf)


def _in_run(run: Cited, reading: Reading, key: str, said: Compared) -> Iterator[tuple[float, Row | None]]:
    own = defaults(run)["arm"]
    subject, other = (_named(one, run) for one in (said.subject, said.other))
    for row in run.metrics.get("differences", []):
        if row["metric"] != key or not _alike(row, reading, run):
            continue
        pair = (str(row["arm"]), str(row["baseline"]))
        if _meant(pair, subject, other):
            yield row["value"], row
        if _meant(pair[::-1], subject, other):
            yield -row["value"], row
    said_arms = {arm for arm in reading.wanted["arm"] if arm}
    table = [row for row in rows(run, key) if _alike(row, reading, run)]
    for a in table:
        for b in table:
            named = _meant((str(a["arm"]), str(b["arm"])), subject, other)
            if subject is None and other is not None and said_arms - {other}:
                named = named and a["arm"] in said_arms
            same = all(a[facet] == b[facet] for facet in ROW_FACETS[1:])
            told = {own, *said_arms}
            if a["arm"] != b["arm"] and same and named and (subject or other or {a["arm"], b["arm"]} & told):
                yield a["value"] - b["value"], None
                yield round(a["value"], 3) - round(b["value"], 3), None
    if said.other is None:
        yield from _across(run, reading, key, subject or own)


def _named(said: str | None, run: Cited) -> str | None:
    own = defaults(run)["arm"]
    if said is None:
        return None
    return f"{own}{said}" if said.startswith("@") else said or own


def _meant(pair: tuple[str, str], subject: str | None, other: str | None) -> bool:
    return (subject is None or pair[0] == subject) and (other is None or pair[1] == other)


def _alike(row: Row, reading: Reading, run: Cited, but: str = "") -> bool:
    """Whether a row is of the scope, view and type that are said, of the facet `but` apart."""
    for facet, standard in defaults(run).items():
        values = {value or standard for value in reading.wanted[facet] or ("",)}
        if facet not in ("arm", but) and facet in row and str(row[facet]) not in values and not reading.every:
            return False
    return True


def _across(run: Cited, reading: Reading, key: str, arm: str) -> Iterator[tuple[float, Row | None]]:
    """Between two scopes, views or types of one arm, where the sentence names one."""
    table = [row for row in rows(run, key) if row["arm"] == arm]
    standard = defaults(run)
    for facet in ROW_FACETS[1:]:
        named = {value for value in reading.wanted[facet] if value}
        if not named:
            continue
        kept = [row for row in table if _alike(row, reading, run, but=facet)]
        for a in (row for row in kept if row[facet] in named):
            for b in kept:
                others = all(a[f] == b[f] for f in ROW_FACETS[1:] if f != facet)
                if a[facet] != b[facet] and others and b[facet] in {standard[facet], *named}:
                    for digits in (9, 3):
                        change = round(a["value"], digits) - round(b["value"], digits)
                        yield change, None
                        yield -change, None


def _between(
    reading: Reading, key: str, said: Compared, runs: Sequence[Cited], shelf: Shelf
) -> Iterator[tuple[float, Row | None]]:
    """Between two runs: those that are named, or one and an earlier version beside it."""
    version = next((one[1:] for one in (said.other, said.subject) if one and one.startswith("@")), None)
    earlier = [one for run in runs for one in shelf.earlier(version, run)] if version else []
    if said.other and not said.other.startswith("@"):
        return
    for after in runs:
        for before in [*runs, *earlier]:
            if after is before or (version and said.other and RUN_VALUES["version"](before) != version):
                continue
            for one in _own(after, reading, key, said):
                same = (two for two in rows(before, key) if all(one[f] == two[f] for f in ROW_FACETS))
                for two in same:
                    yield one["value"] - two["value"], None
                    yield round(one["value"], 3) - round(two["value"], 3), None


def _own(run: Cited, reading: Reading, key: str, said: Compared) -> list[Row]:
    """The rows of the subject, which is the system under test unless an arm is named."""
    subject = said.subject or ""
    arm = defaults(run)["arm"] if subject.startswith("@") or not subject else subject
    return [row for row in rows(run, key) if row["arm"] == arm and _alike(row, reading, run)]
