"""Release an edition of the protocol: `python tools/edition.py 2.1.0 --why "…"`.

next.toml beside the editions holds what the new edition adds, in the form of an edition.toml, such as
`metrics.families = ["hit"]`. The command writes the rows of new metrics and gates, the version, Appendix A,
the hashes and the entry of HISTORY.md. Change the wording of PROTOCOL.md by hand before.

With the version of the current edition the command stores the hash of a changed PROTOCOL.md again, as long
as no committed run names that edition.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path

import msgspec

from pgmnemo.embedders import EMBEDDERS
from pgmnemo.errors import PgmnemoError, UsageError
from runner.protocol.datasets import SUITES
from runner.protocol.editions import Edition, current, known
from runner.protocol.editions.edition import MetricPins
from runner.protocol.editions.load import DOCUMENT, FOLDER, PINS, TEXT, describe_error, merged, tables_of
from runner.protocol.gates import gate_named, gates_of
from runner.protocol.metrics.metric import Family, family_named, metrics_for
from runner.runs.history import append_entry
from runner.systems.controls import CONTROLS

NEXT = "next.toml"
EMPTY = "# What the next edition adds, as an edition.toml has it: a list goes on behind the one before.\n"
NUMBER = re.compile(r"\d+\.\d+\.\d+")
ARMS = ("bm25", "keyword", "vector", *CONTROLS)  # what runner/bench/measurement.py can set beside a system
APPENDIX = re.compile(r"^SHA-256 of `edition\.toml`: `\w*`\.$", re.MULTILINE)


def release(version: str, why: str, day: date | None = None) -> str:
    """Release the edition `version`, or store the hashes of the current edition again.

    Returns a sentence on what was done. Raises UsageError if the edition cannot be released.
    """
    when, former = day or datetime.now(UTC).date(), current()
    if version == former.version:
        if tables_of(FOLDER / NEXT):
            raise UsageError(f"{NEXT} has lines, which belong to the edition after {version}: release that")
        if named := [
            run.parent.name for run in _runs() if f'"version": "{version}"' in run.read_text("utf-8")
        ]:
            raise UsageError(f"{version} is frozen by the run {named[0]}: release the next edition")
        _pin(version, DOCUMENT.read_text("utf-8"))
        return f"{version} is pinned anew"
    pins, text = _pins(former, version), _text(former, version, why, when)
    (FOLDER / version).mkdir()
    (FOLDER / version / PINS).write_text(pins, "utf-8")
    (FOLDER / NEXT).write_text(EMPTY, "utf-8")
    _pin(version, text)
    append_entry(DOCUMENT.with_name("HISTORY.md"), f"## {when} · protocol · {version}\n\n{why}\n")
    return f"{version} is in force; commit PROTOCOL.md, HISTORY.md and {FOLDER.name}/"


def _runs() -> list[Path]:
    return sorted(DOCUMENT.parent.glob("benchmarks/*/results/*/run.json"))


def _pin(version: str, text: str) -> None:
    """Write the hash of edition.toml into the appendix of `text`, and the hash of PROTOCOL.md to a file."""
    digest = sha256((FOLDER / version / PINS).read_bytes()).hexdigest()
    text = _replaced(text, APPENDIX, f"SHA-256 of `edition.toml`: `{digest}`.")
    DOCUMENT.write_text(text, "utf-8")
    (FOLDER / version / TEXT).write_text(f"{sha256(text.encode()).hexdigest()}  {DOCUMENT.name}\n", "utf-8")


def _pins(former: Edition, version: str) -> str:
    """Return the edition.toml of the new edition: its version, its predecessor, and next.toml's content."""
    number = tuple(map(int, version.split("."))) if NUMBER.fullmatch(version) else ()
    if number <= tuple(map(int, former.version.split("."))):
        raise UsageError(f"{version} is no version after {former.version}: name one such as 2.1.0")
    follows = f'{{ version = "{former.version}", pins_sha256 = "{former.pins_sha256}" }}'
    added = (FOLDER / NEXT).read_text("utf-8").removeprefix(EMPTY)
    return f'version = "{version}"\nfollows = {follows}\n\n{added}'


def _text(former: Edition, version: str, why: str, when: date) -> str:
    """Return PROTOCOL.md of the new edition.

    Each metric, gate and version that has no row yet gets one.
    """
    if not why.strip() or "\n" in why or "|" in why:
        raise UsageError("--why takes one line without |: it becomes a row of §9 and the entry of HISTORY.md")
    more = tables_of(FOLDER / NEXT)
    text = DOCUMENT.read_text("utf-8")
    if not more and sha256(text.encode()).hexdigest() == former.sha256:
        raise UsageError(f"nothing is new: neither {NEXT} nor PROTOCOL.md has changed since {former.version}")
    tables = merged(tables_of(FOLDER / former.version / PINS), more)
    try:
        made = msgspec.convert({**tables, "sha256": "", "pins_sha256": ""}, Edition)
        _check(made)
    except msgspec.ValidationError as error:
        raise UsageError(f"{NEXT} is no part of an edition: {describe_error(error, tables)}") from None
    except UsageError as error:
        raise UsageError(f"{NEXT}: {error}") from None
    for name in more.get("metrics", {}).get("families", ()):
        text = _rowed(text, _metric_row(family_named(name), made.metrics), r"\| `nDCG@\d+` .*\n(?:\| .*\n)*")
    for name in more.get("gates", ()):
        text = _rowed(text, f"- `{name}`: {gate_named(name).words}", r"- `history`: .*\n(?:[- ] .*\n)*")
    text = _rowed(text, f"| {version} | {when} | {why} |", rf"\| {re.escape(former.version)} \| .*\n")
    for line in (
        "**Version {}**",
        "in force since {}",
        "No canonical result under {} exists yet",
        "Protocol v{}",
    ):
        pattern = re.compile(re.escape(line).replace(r"\{\}", r"[\d.-]+(?<![.-])"))
        text = _replaced(text, pattern, line.format(when if "since" in line else version))
    return text


def _metric_row(family: Family, pins: MetricPins) -> str:
    """Return the row of §4.1 for a family of metrics, with its cutoffs or with its own depth."""
    metrics = family.metrics(pins, pins.cutoffs)
    name = f"{metrics[0].family}@k" if len(metrics) > 1 else metrics[0].name
    return f"| `{name}` | {metrics[0].definition} | {', '.join(f'{one.k:,}' for one in metrics)} |"


def _check(made: Edition) -> None:
    """Raise UsageError for repeated or unknown names and invalid hashes, which loading does not check."""
    lists = {
        "gates": made.gates, "arms": made.arms, "metrics.families": made.metrics.families,
        "metrics.headline": made.metrics.headline,
    }  # fmt: skip
    for place, names in lists.items():
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise UsageError(f"{place} has {twice[0]} twice")
    gates_of(made)
    metrics = metrics_for(made)
    for name in made.metrics.headline:
        metrics[name]
    _demand_known("arms", made.arms, ARMS)
    _demand_known("suites", made.suites, SUITES)
    for name, one in made.suites.items():
        _demand_known(f"suites.{name}.embedder", (one.embedder,), EMBEDDERS)
        if one.sha256 is not None and not re.fullmatch("[0-9a-f]{64}", one.sha256):
            raise UsageError(f"suites.{name}.sha256 is {one.sha256!r} and no SHA-256 in hexadecimal digits")


def _demand_known(place: str, names: Iterable[str], there: Collection[str]) -> None:
    if unknown := [name for name in names if name not in there]:
        raise UsageError(f"{place} names {unknown[0]}, which there is not; choose of: {', '.join(there)}")


def _rowed(text: str, row: str, behind: str) -> str:
    """Return `text` with `row` after the line that matches `behind`; unchanged if it has such a row."""
    if "\n" + " ".join(row.split()[:2]) in text:
        return text
    return _replaced(text, re.compile(f"(?m)^({behind})"), lambda found: f"{found[0]}{row}\n")


def _replaced(text: str, pattern: re.Pattern[str], words: str | Callable[[re.Match[str]], str]) -> str:
    made, count = pattern.subn(words if callable(words) else lambda _: words, text)
    if count != 1:
        raise UsageError(f"PROTOCOL.md has {count} lines like {pattern.pattern!r} and not one: mend it first")
    return made


def main() -> int:
    """Release the edition that the command line names; return 2 for a user's error."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("version", help=f"the next edition, or {known()[-1]} to pin its text anew")
    parser.add_argument("--why", default="", help="what it changes, in one line")
    given = parser.parse_args()
    try:
        print(release(given.version, given.why))
    except PgmnemoError as error:
        print(error, file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
