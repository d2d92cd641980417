"""Commands that write lessons, facts and links, or let them go."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pgmnemo.cli.open_scope import open_scope
from pgmnemo.cli.options import (
    LOCAL,
    STANDARD,
    AddFlags,
    AllProjectsFlags,
    Dashed,
    DryRun,
    Embedder,
    Given,
    MemoryFlags,
    Time,
    UpdateFlags,
    parse_pairs,
    text_given,
)  # fmt: skip
from pgmnemo.cli.output import lessons, one_line, print_answer, print_note
from pgmnemo.errors import UsageError, os_errors
from pgmnemo.escaping import escape_sentence
from pgmnemo.terminal import say

if TYPE_CHECKING:
    from pgmnemo import Feedback, Turn

HERE, ANYWHERE, STORED, CHANGED = MemoryFlags(), AllProjectsFlags(), AddFlags(), UpdateFlags()


def add(
    text: Dashed = None, /, *, turns: Annotated[Dashed, Parameter(metavar="FILE")] = None,
    similar: int = 0, told: AddFlags = STORED, where: MemoryFlags = HERE, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Store a text, or a conversation as one lesson.

    Prints whether the lesson is new, updated or unchanged, and its key.
    If the lesson --key exists, it is updated; fields that you do not give
    keep their values. Without --key, a text with --role follows the last
    text of the project; any other text gets a new key.

    Args:
        text: the text; - or nothing: standard input
        turns: file with a conversation instead: lines of JSON with a
            text each, and role, at, name
        similar: also print this number of lessons that say nearly the
            same, or share the subject
    """
    if text is not None and turns is not None:
        raise UsageError("add takes a text or --turns, not both")
    text = STANDARD if text is None else text
    given = text_given(text, where.quiet) if turns is None else _turns(turns)
    with open_scope(where, embedder, make=True) as here:
        added = here.add(given, similar=similar, **told.keywords())
    empty = "nothing stored: the text is what context printed"
    others = (one_line(f"similar {one.key}: {one.text}", 0) for one in added.similar)
    print_answer(
        where.json, added, f"{added.outcome} {escape_sentence(added.key)}" if added.key else empty, *others
    )


def _turns(place: str) -> list[Turn]:
    if place == STANDARD:
        return _decode_turns(sys.stdin.buffer, "standard input")
    told = f"{place} cannot be read ({{why}}); name a file of JSON lines"
    with os_errors(told, UsageError), Path(place).open("rb") as file:
        return _decode_turns(file, place)


def _decode_turns(file: IO[bytes], where: str) -> list[Turn]:
    from pgmnemo import Turn
    from pgmnemo.client.jsonl_format import convert, decode, lines_of
    from pgmnemo.importers.lessons import moment

    turns = list[Turn]()
    for number, line in enumerate(lines_of(file, where), 1):
        if line.strip():
            place = f"{where}, line {number}"
            given = decode(line, place, mend_halves=False)
            if isinstance(given, dict) and (at := moment(given.get("at"))):
                given["at"] = at
            turns.append(convert(given, Turn, place))
    if not turns:
        raise UsageError(f"{where} holds no turn; give a line of JSON for each")
    return turns


def update(key: str, /, *, told: UpdateFlags = CHANGED, where: MemoryFlags = HERE) -> None:
    """Change the fields of a lesson, but not its text.

    To change the text, add it again with its key.

    Args:
        key: key of the lesson
    """
    with open_scope(where) as here:
        outcome = here.update(key, **told.keywords())
    print_answer(where.json, {"key": key, "outcome": outcome}, f"{outcome} {escape_sentence(key)}")


def used(key: str, /, *, undo: bool = False, where: MemoryFlags = HERE) -> None:
    """Say that a lesson was of use.

    Three uses raise its importance by 1, to 5 at most.

    Args:
        key: the lesson
        undo: take one use back, with its effect
    """
    with open_scope(where) as here:
        _print_feedback(where, here.used(key, undo=undo))


def wrong(key: str, /, *, undo: bool = False, where: MemoryFlags = HERE) -> None:
    """Say that a lesson was wrong, or of no use where it was recalled.

    Its importance falls by 1, to 1 at least. To end what is untrue,
    supersede or forget it.

    Args:
        key: the lesson
        undo: take it back, with its effect
    """
    with open_scope(where) as here:
        _print_feedback(where, here.wrong(key, undo=undo))


def _print_feedback(where: MemoryFlags, found: Feedback) -> None:
    told = f"used {found.used:,}, wrong {found.wrong:,}: importance {found.importance} {found.key}"
    print_answer(where.json, found, told)


def forget(
    key: str | None = None, /, *, filter: Given = None, all_lessons: bool = False, permanent: bool = False,
    revive: bool = False, dry_run: DryRun = False, yes: bool = False, where: AllProjectsFlags = ANYWHERE,
) -> int:  # fmt: skip
    """Forget a lesson, the lessons that match a filter, or all lessons.

    A forgotten lesson is not recalled until it is stored again;
    --permanent and --all-lessons delete lessons from the database. The
    command asks before it forgets several lessons; without a terminal
    it needs --yes.

    Args:
        key: key of the lesson
        filter: lessons that match, such as topic=home or an object of
            JSON; may be repeated
        all_lessons: delete all lessons of the project
        permanent: delete the lessons from the database
        revive: make lessons valid again that a forgotten lesson had
            superseded
        yes: do not ask
    """
    chosen, several = parse_pairs("--filter", filter), key is None
    if (key is not None) + (filter is not None) + all_lessons != 1:
        raise UsageError("forget takes one of: a key, --filter, --all-lessons")
    with open_scope(where) as here:

        def gone(dry_run: bool) -> int:
            return here.forget(
                key,
                filter=chosen,
                all_lessons=all_lessons,
                permanent=permanent,
                dry_run=dry_run,
                revive=revive,
            )

        verb = "delete" if permanent or all_lessons else "forget"
        if several and not dry_run and not yes and not _confirm(gone(True), where, verb):
            print_note(where.quiet, "nothing was changed")
            return 1
        number = gone(dry_run)
    told = {"lessons": number, "dry_run": dry_run}
    print_answer(where.json, told, f"{'would forget' if dry_run else 'forgot'} {lessons(number)}")
    return 0


def _confirm(number: int, where: MemoryFlags, verb: str) -> bool:
    """Return whether the user agrees to change this number of lessons; raise UsageError without a
    terminal.
    """
    if number < 2:
        return True
    of = "all projects" if where.scope is None else f"project {where.scope}"
    told = f"{verb} {lessons(number)} of {of} of tenant {where.tenant}"
    if not sys.stdin.isatty():
        raise UsageError(f"this would {told}; say --yes to do it")
    say(f"{told}? [y/N] ", error=True, end="")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def delete_expired(before: Time = None, /, *, where: MemoryFlags = HERE) -> None:
    """Delete the expired lessons of a tenant, in all projects.

    Args:
        before: only lessons that expired before this time; else before
            now
    """
    with open_scope(where) as here:
        number = here.delete_expired(before)
    print_answer(where.json, {"lessons": number}, f"deleted {lessons(number)}")


def supersede(
    old: str,
    new: str | None = None,
    /,
    *,
    reason: str | None = None,
    at: Time = None,
    where: MemoryFlags = HERE,
) -> None:
    """Replace a lesson by another one from a time on, or end its validity.

    Args:
        old: key of the lesson that no longer holds
        new: key of the lesson that holds instead
        reason: why
        at: time from which on the old lesson does not hold; else now
    """
    with open_scope(where) as here:
        outcome = here.supersede(old, new, reason=reason, at=at)
    print_answer(where.json, {"key": old, "outcome": outcome}, f"{outcome} {old}")


def undo_supersede(old: str, /, *, where: MemoryFlags = HERE) -> None:
    """Make a superseded lesson valid again.

    Args:
        old: key of the superseded lesson
    """
    with open_scope(where) as here:
        undone = here.undo_supersede(old)
    told = f"{old} holds again" if undone else f"{old} was not superseded"
    print_answer(where.json, {"key": old, "undone": undone}, told)


def fact(
    subject: str, relation: str, object: str, /, *, text: str | None = None, at: Time = None,
    exclusive: bool = False, reason: str | None = None, source: str | None = None, metadata: Given = None,
    where: MemoryFlags = HERE, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """State a fact, such as ada "lives in" Lisbon.

    Args:
        subject: the subject, such as ada
        relation: the relation, such as "lives in"
        object: the object, such as Lisbon
        text: the fact in words; else subject, relation and object
        at: time from which on the fact holds; else now
        exclusive: the subject has only one object in this relation;
            another one that holds then is superseded
        reason: why
        source: key of the lesson that says so
        metadata: other facts about it: place=home, or an object of JSON
    """
    with open_scope(where, embedder, make=True) as here:
        stated = here.fact(
            subject, relation, object, at=at, exclusive=exclusive, reason=reason, source=source, text=text,
            metadata=parse_pairs("--metadata", metadata),
        )  # fmt: skip
    instead = f", in the place of {stated.superseded:,}" if stated.superseded else ""
    print_answer(where.json, stated, f"{stated.outcome} {stated.key}{instead}")


def end_fact(
    subject: str, relation: str, object: str | None = None, /, *, at: Time = None,
    reason: str | None = None, where: MemoryFlags = HERE,
) -> None:  # fmt: skip
    """End the facts of a subject and a relation.

    Args:
        subject: the subject, such as ada
        relation: the relation, such as "lives in"
        object: only the fact with this object; else all of them
        at: time from which on the facts do not hold; else now
        reason: why
    """
    with open_scope(where) as here:
        number = here.end_fact(subject, relation, object, at=at, reason=reason)
    print_answer(where.json, {"facts": number}, f"ended {number:,} fact{'s' * (number != 1)}")


def link(
    source: str, target: str, kind: str = "related", /, *, weight: float | None = None,
    valid_from: Time = None, valid_to: Time = None, where: MemoryFlags = HERE,
) -> None:  # fmt: skip
    """Link two lessons: finding the source raises the target's score.

    Args:
        source: key of the lesson that the link starts from
        target: key of the lesson that the link leads to
        kind: kind of the link
        weight: strength of the link, 0 to 1
        valid_from: time from which on the link holds
        valid_to: time until which the link holds
    """
    with open_scope(where) as here:
        outcome = here.link(source, target, kind, weight=weight, valid_from=valid_from, valid_to=valid_to)
    print_answer(where.json, {"outcome": outcome}, f"{outcome} {source} → {target}")


def unlink(source: str, target: str, kind: str = "related", /, *, where: MemoryFlags = HERE) -> None:
    """Remove a link between two lessons.

    Args:
        source: key of the lesson that the link starts from
        target: key of the lesson that the link leads to
        kind: kind of the link
    """
    with open_scope(where) as here:
        removed = here.unlink(source, target, kind)
    told = "removed" if removed else "there is no"
    print_answer(where.json, {"removed": removed}, f"{told} link {source} → {target}")
