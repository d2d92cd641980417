"""Releasing an edition of the protocol: `python tools/edition.py 2.1.0 --why "…"`.

What it adds lies in next.toml beside the editions, as in an edition.toml: `metrics.families = ["hit"]`. The
rows of new metrics and gates, the version, Appendix A, the hashes and the entry of HISTORY.md are written;
wording is changed in PROTOCOL.md by hand before. Naming the edition in force pins its changed text anew, as
long as no committed run names it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path

import msgspec

from pgmnemo.errors import PgmnemoError, UsageError
from runner.protocol.editions import Edition, current, known
from runner.protocol.editions.load import DOCUMENT, FOLDER, PINS, TEXT, added, tables_of
from runner.protocol.gates import gate_named
from runner.protocol.metrics.metric import family_named
from runner.runs.history import append_entry

NEXT = "next.toml"
EMPTY = "# What the next edition adds, as an edition.toml has it: a list goes on behind the one before.\n"
NUMBER = re.compile(r"\d+\.\d+\.\d+")
APPENDIX = re.compile(r"^SHA-256 of `edition\.toml`: `\w*`\.$", re.MULTILINE)


def release(version: str, why: str, day: date | None = None) -> str:
    """Open the edition `version`, or pin that of today anew; in words what was done. Raises UsageError."""
    when, former = day or datetime.now(UTC).date(), current()
    if version == former.version:
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
    """Name edition.toml's hash in the appendix of `text`, and the hash of that beside edition.toml."""
    digest = sha256((FOLDER / version / PINS).read_bytes()).hexdigest()
    text = _replaced(text, APPENDIX, f"SHA-256 of `edition.toml`: `{digest}`.")
    DOCUMENT.write_text(text, "utf-8")
    (FOLDER / version / TEXT).write_text(f"{sha256(text.encode()).hexdigest()}  {DOCUMENT.name}\n", "utf-8")


def _pins(former: Edition, version: str) -> str:
    """The edition.toml of the new edition: what it follows, then next.toml."""
    number = tuple(map(int, version.split("."))) if NUMBER.fullmatch(version) else ()
    if number <= tuple(map(int, former.version.split("."))):
        raise UsageError(f"{version} is no version after {former.version}: name one such as 2.1.0")
    follows = f'{{ version = "{former.version}", pins_sha256 = "{former.pins_sha256}" }}'
    return f'version = "{version}"\nfollows = {follows}\n\n{(FOLDER / NEXT).read_text("utf-8")}'


def _text(former: Edition, version: str, why: str, when: date) -> str:
    """PROTOCOL.md of the new edition, with a row for each metric, gate and version that has none yet."""
    if not why.strip() or "\n" in why or "|" in why:
        raise UsageError("--why takes one line without |: it becomes a row of §9 and the entry of HISTORY.md")
    more = tables_of(FOLDER / NEXT)
    text = DOCUMENT.read_text("utf-8")
    if not more and sha256(text.encode()).hexdigest() == former.sha256:
        raise UsageError(f"nothing is new: neither {NEXT} nor PROTOCOL.md has changed since {former.version}")
    try:
        base = tables_of(FOLDER / former.version / PINS)
        msgspec.convert({**added(base, more), "sha256": "", "pins_sha256": ""}, Edition)
    except msgspec.ValidationError as error:
        raise UsageError(f"{NEXT} is no part of an edition: {error}") from None
    for name in more.get("metrics", {}).get("families", ()):
        for metric in family_named(name).metrics(former.metrics, former.metrics.cutoffs[:1]):
            text = _rowed(
                text, f"| `{metric.name}` | {metric.definition} | {metric.k} |", r"\| `nDCG@\d+` .*\n"
            )
    for name in more.get("gates", ()):
        text = _rowed(text, f"- `{name}`: {gate_named(name).words}", r"- `history`: .*\n")
    text = _rowed(text, f"| {version} | {when} | {why} |", rf"\| {re.escape(former.version)} \| .*\n")
    for words in (
        "**Version {}**",
        "in force since {}",
        "No canonical result under {} exists yet",
        "Protocol v{}",
    ):
        pattern = re.compile(re.escape(words).replace(r"\{\}", r"[\d.-]+(?<![.-])"))
        text = _replaced(text, pattern, words.format(when if "since" in words else version))
    return text


def _rowed(text: str, row: str, behind: str) -> str:
    """`text` with the row behind the one that matches, unless one of its kind is there already."""
    if "\n" + " ".join(row.split()[:2]) in text:
        return text
    return _replaced(text, re.compile(f"(?m)^({behind})"), lambda found: f"{found[0]}{row}\n")


def _replaced(text: str, pattern: re.Pattern[str], words: str | Callable[[re.Match[str]], str]) -> str:
    made, count = pattern.subn(words if callable(words) else lambda _: words, text)
    if count != 1:
        raise UsageError(f"PROTOCOL.md has {count} lines like {pattern.pattern!r} and not one: mend it first")
    return made


def main() -> int:
    """Release what the command line names; 2 for what is off."""
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
