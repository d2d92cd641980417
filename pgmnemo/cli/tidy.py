"""`mnemo tidy`: near-copies and contradictions, listed, and superseded where a user agrees."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from pgmnemo.cli.open_scope import open_scope
from pgmnemo.cli.options import DryRun, MemoryFlags
from pgmnemo.cli.output import one_line, print_answer, print_note
from pgmnemo.errors import UsageError
from pgmnemo.terminal import say

if TYPE_CHECKING:
    from pgmnemo import Fact, Scope

HERE = MemoryFlags()
COPY, CONTRADICTION = "near-copy", "contradiction"
MOST = 10_000  # pairs, or facts, that are looked at
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TidyStep:
    """A lesson that another, newer one may take the place of: both keys, the texts, and why.

    `at` is when it does (None: now).
    """

    kind: str
    old: str
    new: str
    old_text: str
    new_text: str
    at: datetime | None = None


def tidy(
    *, only: Literal["copies", "facts"] | None = None, least_words: float = 0.8, least_cosine: float = 0.95,
    dry_run: DryRun = False, yes: bool = False, where: MemoryFlags = HERE,
) -> int:  # fmt: skip
    """List near-copies and contradictions, and supersede the older ones.

    A near-copy says nearly the same as a newer lesson. A contradiction is a
    fact with another object than a newer one of the same subject and
    relation that holds at the same time; that may be right, as in "likes".
    Each is asked for, or, with --yes, all that is listed is done. What is
    superseded stays in the timeline, and undo-supersede brings it back.

    Args:
        only: near-copies, or contradictions of facts, alone
        least_words: of the words of two lessons, the share that both have
        least_cosine: or this much between their vectors
        yes: do all that is listed, without asking
    """
    with open_scope(where) as here:
        steps = [] if only == "facts" else list(_copies(here, least_words, least_cosine))
        steps += [] if only == "copies" else list(_contradictions(here.facts(history=True, limit=MOST)))
        if not yes and not dry_run and steps and not sys.stdin.isatty():
            raise UsageError(f"this would ask for each of {len(steps):,}; say --yes, or --dry-run to list")
        done = 0
        for number, step in enumerate(steps, 1):
            if not where.json or not (yes or dry_run):
                say(*_lines(number, step), error=where.json)
            if not dry_run and (yes or _agrees(step)):
                told = here.supersede(step.old, step.new, reason=f"tidy: {step.kind}", at=step.at)
                done += told != "unchanged"
    answer = {"steps": steps, "superseded": done, "dry_run": dry_run}
    print_answer(where.json, answer, f"found {len(steps):,}, superseded {done:,}")
    if done:
        print_note(where.quiet, "mnemo undo-supersede KEY takes one back")
    return 0


def _lines(number: int, step: TidyStep) -> Iterator[str]:
    yield f"{number}. {step.kind}"
    yield f"    old {one_line(f'{step.old}: {step.old_text}', 8)}"
    yield f"    new {one_line(f'{step.new}: {step.new_text}', 8)}"


def _agrees(step: TidyStep) -> bool:
    say(f"supersede {step.old}? [y/N] ", error=True, end="")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _copies(scope: Scope, least_words: float, least_cosine: float) -> Iterator[TidyStep]:
    """Yield each lesson that has a newer near-copy, once; facts are left to `_contradictions`."""
    left_out = {fact.key for fact in scope.facts(history=True, limit=MOST)}
    for pair in scope.similar(least_words=least_words, least_cosine=least_cosine, limit=MOST):
        keys = (pair.first, pair.second)
        if left_out.isdisjoint(keys):
            lessons = [one for key in keys if (one := scope.get(key)) is not None]
            if len(lessons) == 2:
                old, new = sorted(lessons, key=lambda one: (one.at or one.stored_at, one.id))
                left_out.add(old.key)
                yield TidyStep(COPY, old.key, new.key, old.text, new.text)


def _contradictions(facts: Iterable[Fact]) -> Iterator[TidyStep]:
    """Yield each fact that holds now with the next one of its subject and relation that has another object.

    The older fact ends when the newer one begins, or now if both begin at the same time.
    """
    said = sorted(facts, key=lambda one: (one.subject, one.relation, one.valid_from or EARLIEST))
    now = datetime.now(UTC)
    for _, group in groupby(said, key=lambda one: (one.subject, one.relation)):
        current = [one for one in group if (one.valid_from or EARLIEST) <= now < (one.valid_to or LATEST)]
        for place, old in enumerate(current, 1):
            new = next((one for one in current[place:] if one.object != old.object), None)
            if new is not None:
                at = new.valid_from if new.valid_from != old.valid_from else None
                yield TidyStep(CONTRADICTION, old.key, new.key, old.text, new.text, at)
