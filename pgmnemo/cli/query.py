"""Commands that query a memory and show its contents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pgmnemo.cli.open_scope import open_scope
from pgmnemo.cli.options import (
    LOCAL,
    AllProjectsFlags,
    ContextFlags,
    Dashed,
    Embedder,
    ListFlags,
    MemoryFlags,
    Others,
    QuestionFlags,
    RecallFlags,
    TenantFlags,
    Time,
    text_given,
)  # fmt: skip
from pgmnemo.cli.output import (
    day,
    document,
    indent,
    join_parts,
    lessons,
    one_line,
    print_answer,
    print_note,
    span,
    wrap_sentence,
)
from pgmnemo.client.records import to_builtins
from pgmnemo.errors import MissingError
from pgmnemo.escaping import escape_sentence

if TYPE_CHECKING:
    from pgmnemo import Hit, Lesson
    from pgmnemo.client.records import Duplicate, Fact, Reason, Step

HERE, ANYWHERE, WHOLE = MemoryFlags(), AllProjectsFlags(), TenantFlags()
FITTING, PACKED, ASKED, LISTED = RecallFlags(), ContextFlags(), QuestionFlags(), ListFlags()
MARGIN = 4


def recall(
    query: Dashed = None, /, *, why: bool = False, full: bool = False, asked: RecallFlags = FITTING,
    others: Others = None, where: AllProjectsFlags = ANYWHERE, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Print the lessons that answer a question, the best first.

    For each lesson the command prints the text, then the score, the fit
    (0 to 1, on the question's own scale), the date, the role and the key.

    Args:
        query: the question; -: standard input, which is not read
            otherwise; without a question, the newest and most important
        why: also print the parts of each score
        full: print texts as they are, not one line of each
    """
    query = query and text_given(query, where.quiet)
    with open_scope(where, embedder, others=others or ()) as here:
        hits = here.recall(query, **asked.keywords())
    for rank, hit in enumerate(hits, start=1):
        told = {**to_builtins(hit), "why": hit.why()} if why else hit
        print_answer(where.json, told, *_hit(rank, hit, why, full))
    if not hits:
        print_note(where.quiet, "nothing is found")


def _hit(rank: int, hit: Hit, why: bool, full: bool) -> Iterator[str]:
    told = indent(hit.text, MARGIN)[MARGIN:] if full else one_line(hit.text, MARGIN)
    yield f"{rank:>2}. {told}"
    fit = None if hit.fit is None else f"fit {hit.fit:.2f}"
    others = f"+{hit.equal_lessons} equal" if hit.equal_lessons else None
    facts = [
        f"score {hit.score:.2f}",
        fit,
        day(hit.at).strip(),
        hit.role,
        hit.tenant,
        escape_sentence(hit.key),
        others,
    ]
    yield indent(one_line(join_parts(facts), MARGIN), MARGIN)
    if why:
        yield wrap_sentence(hit.why())


def context(
    query: Dashed = None, /, *, max_tokens: int = 1000, asked: ContextFlags = PACKED,
    others: Others = None, where: AllProjectsFlags = ANYWHERE, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Print recalled lessons as quoted data for a prompt.

    Without a question these are the newest and most important lessons.
    The text has at most --max-tokens tokens, by a high estimate. A
    lesson that does not fit is left out, and the next is tried.

    Args:
        query: the question; -: standard input
        max_tokens: maximum number of tokens of the text
    """
    query = query and text_given(query, where.quiet)
    with open_scope(where, embedder, others=others or ()) as here:
        found = here.context(query, max_tokens=max_tokens, **asked.keywords())
    print_answer(where.json, found, *([found.text.rstrip("\n")] if found.text else []))
    left = f", and {lessons(found.left_out)} did not fit" if found.left_out else ""
    print_note(where.quiet, f"{lessons(len(found.hits))} in about {found.tokens:,} tokens{left}")


def explain(
    key: str, query: str | None = None, /, *, asked: QuestionFlags = ASKED, where: MemoryFlags = HERE,
    embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Explain the rank of a lesson, or why it is not found.

    Args:
        key: key of the lesson
        query: the question
    """
    with open_scope(where, embedder) as here:
        reasons = here.explain(key, query, **asked.keywords())
    print_answer(where.json, reasons, *_reasons(reasons))


def _reasons(reasons: Iterable[Reason]) -> Iterator[str]:
    section = ""
    for one in reasons:
        if one.section != section:
            yield (section := one.section)
        share = "" if one.contribution is None else f"{one.contribution:+.2f}"
        before = f"  {one.item:<16}{_number(one.value):>10} {share:>7}  "
        yield f"{before}{one_line(one.note or '', len(before))}".rstrip()


def _number(value: str | None) -> str:
    """Return a number with three decimals; any other value unchanged."""
    try:
        return f"{float(value or ''):.3f}".rstrip("0").rstrip(".")
    except ValueError:
        return value or "-"


def get(key: str, /, *, where: MemoryFlags = HERE) -> None:
    """Print a lesson with all its fields, forgotten or not.

    Args:
        key: key of the lesson
    """
    with open_scope(where) as here:
        found = here.get(key)
    if found is None:
        raise MissingError(
            f"there is no lesson {key!r} in project {where.project} of tenant {where.tenant}; "
            "mnemo list prints the keys"
        )
    fields = {name: value for name, value in to_builtins(found).items() if value not in (None, {})}
    text = fields.pop("text")
    print_answer(where.json, found, *(f"{name}: {_field(value)}" for name, value in fields.items()), "", text)


def _field(value: object) -> str:
    return document(value) if isinstance(value, dict) else str(value)


def list_(
    *, newest: bool = False, limit: int | None = None, full: bool = False, listed: ListFlags = LISTED,
    where: AllProjectsFlags = ANYWHERE,
) -> None:  # fmt: skip
    """Print lessons in the order in which they were stored.

    Args:
        newest: print the newest lesson first
        limit: maximum number of lessons; else all
        full: print texts as they are, not one line of each
    """
    any_of = False
    with open_scope(where) as here:
        for lesson in here.list(newest=newest, limit=limit, **listed.keywords()):
            print_answer(where.json, lesson, *_lesson(lesson, full))
            any_of = True
    if not any_of:
        print_note(where.quiet, "there is no such lesson")


def _lesson(lesson: Lesson, full: bool) -> Iterator[str]:
    ended = "forgotten" if not lesson.active else f"until {day(lesson.superseded_at)}"
    state = f"({ended})" if not lesson.active or lesson.superseded_at else None
    before = "  ".join(
        part for part in (day(lesson.at or lesson.stored_at), escape_sentence(lesson.key), state) if part
    )
    if full:
        yield before
        yield indent(lesson.text, MARGIN)
    else:
        yield f"{before}  {one_line(lesson.text, len(before) + 2)}"


def count(*, listed: ListFlags = LISTED, where: AllProjectsFlags = ANYWHERE) -> None:
    """Print how many lessons list would, and how many are hidden."""
    with open_scope(where) as here:
        found = here.count(**listed.keywords())
    hidden = f", and {found.hidden:,} that the gate hides" if found.hidden else ""
    print_answer(where.json, found, f"{lessons(found.lessons)}{hidden}")


def timeline(key: str, /, *, known_at: Time = None, where: MemoryFlags = HERE) -> None:
    """Print what a lesson replaced, and what replaced it.

    Args:
        key: key of the lesson
        known_at: only what was known at this time
    """
    with open_scope(where) as here:
        steps = here.timeline(key, known_at=known_at)
    print_answer(where.json, steps, *(line for step in steps for line in _step(step)))


def _step(step: Step) -> Iterator[str]:
    state = "" if step.active else "  (forgotten)"
    yield f"{span(step.valid_from, step.valid_to)}  {escape_sentence(step.key)}{state}"
    yield indent(one_line(step.text, MARGIN), MARGIN)
    if step.reason:
        yield indent(one_line(f"ended: {step.reason}", MARGIN), MARGIN)


def facts(
    subject: str | None = None, relation: str | None = None, object: str | None = None, /, *,
    at: Time = None, known_at: Time = None, history: bool = False, limit: int = 1000,
    where: AllProjectsFlags = ANYWHERE,
) -> None:  # fmt: skip
    """Print the facts that hold, with the time for which they hold.

    Args:
        subject: only facts about this subject
        relation: only facts with this relation
        object: only facts with this object
        at: facts that held at this time; else now
        known_at: only what was known at this time
        history: all facts that ever held
        limit: maximum number of facts
    """
    with open_scope(where) as here:
        found = here.facts(subject, relation, object, at=at, known_at=known_at, history=history, limit=limit)
    print_answer(where.json, found, *map(_fact, found))
    if not found:
        print_note(where.quiet, "no such fact holds")


def _fact(fact: Fact) -> str:
    ended = f" ({fact.reason})" if fact.reason else ""
    when = span(fact.valid_from, fact.valid_to)
    told = f"{fact.subject} · {fact.relation} · {fact.object}{ended}"
    return f"{when}  {one_line(told, len(when) + 2)}"


def similar(
    *,
    least_cosine: float = 0.95,
    least_words: float = 0.8,
    limit: int = 100,
    where: AllProjectsFlags = ANYWHERE,
) -> None:
    """Print pairs of lessons that say nearly the same.

    For each pair the command prints the cosine of the two vectors, the
    share of words in common, and the two keys.

    Args:
        least_cosine: minimum cosine of the two vectors
        least_words: minimum share of words in common
        limit: maximum number of pairs
    """
    with open_scope(where) as here:
        pairs = here.similar(least_cosine=least_cosine, least_words=least_words, limit=limit)
    print_answer(where.json, pairs, *map(_pair, pairs))
    if not pairs:
        print_note(where.quiet, "no two lessons are so alike")


def _pair(pair: Duplicate) -> str:
    shares = (f"{'-' if share is None else format(share, '.2f'):>4}" for share in (pair.cosine, pair.words))
    return "  ".join([*shares, pair.first, pair.second])


def stats(*, where: TenantFlags = WHOLE) -> None:
    """Print a memory's place, number of lessons, embedder and versions."""
    with open_scope(where) as here:
        found = here.stats()
    ended = found.everything - found.lessons - found.hidden
    by = f"{found.embedder} ({found.dimensions} numbers)" if found.embedder else "none yet"
    told = {
        "place": found.place,
        "tenant": f"{where.tenant} ({found.tenant})",
        "project": f"{where.project} ({found.project})" if found.project else "all",
        "lessons": f"{found.lessons:,}" + (f", and {ended:,} that ended" if ended else ""),
        "hidden": f"{found.hidden:,} by the gate" if found.hidden else "",
        "embedder": by,
        "pgmnemo": found.extension,
        "server": f"PostgreSQL {found.postgresql}, pgvector {found.pgvector}",
    }
    print_answer(where.json, found, *(f"{name:<9} {value}" for name, value in told.items() if value))
