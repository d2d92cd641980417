"""LongMemEval-S (Wu et al., ICLR 2025): each question has a haystack of about 48 sessions, its project.

Empty turns are dropped, and neither ids nor `has_answer` are indexed. The same session is in many haystacks,
often under another date: a segment is a (haystack, id) pair, and `id` is the corpus's session id. At turn
level it is `<session>:<place>`, and the turns that the corpus marks with `has_answer` are the gold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOL, Lessons, cut_lessons, speaker, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, check_type, one_of, take
from runner.protocol.datasets.dates import slashed
from runner.protocol.datasets.segment_store import InMemorySegments, OnDiskSegments, SegmentBuilder
from runner.protocol.datasets.suite import PARITY, Suite, Write
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, SearchScope, Segment

TYPES = (
    "single-session-user", "multi-session", "single-session-preference",
    "temporal-reasoning", "knowledge-update", "single-session-assistant",
)  # fmt: skip
ASSISTANT, TURN = "assistant", "turn"
ABSTENTION = "_abs"  # marks the key of a question that its haystack cannot answer


@dataclass(frozen=True, slots=True)
class MarkedTurn:
    """A turn, its number in the session from 1, and whether the corpus marks it as evidence."""

    place: int
    turn: Turn
    marked: bool


@dataclass(frozen=True, slots=True)
class HaystackSession:
    """A session of a haystack; `id` is the prefix of its lessons' ids."""

    id: str
    date: str
    time: datetime
    turns: tuple[MarkedTurn, ...]

    @property
    def words(self) -> tuple[Turn, ...]:
        """Return the turns without marks."""
        return tuple(said.turn for said in self.turns)


def _parts(source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield each question with its haystack; CorpusError names a fault, or rejects the oracle file."""
    foreign, turns = False, level == TURN
    for at, item in enumerate(source.items()):
        key = take(item, "question_id", str, f"item {at} of {source.path}")
        haystack = list(_haystack(item, key))
        evidence = check_list(item, "answer_session_ids", str, key)
        foreign = foreign or any(chat.id not in evidence for chat in haystack)
        yield _lessons(key, haystack, turns), [_question(item, key, _cited(evidence, haystack, turns))]
    if not foreign:
        raise _oracle(source)


def _abstentions(questions: Sequence[Question]) -> dict[str, int]:
    return {"abstention": sum(is_abstention(question.key) for question in questions)}


def is_abstention(key: str) -> bool:
    """Return whether a question has no answer in its haystack (30 of 500)."""
    return ABSTENTION in key


def _haystack(item: Json, key: str) -> Iterator[HaystackSession]:
    """Yield the sessions of one haystack, in its order.

    An id that occurs twice with equal turns is one session, under its first date (so in all known cases);
    with other turns the second session is kept too, as `<id>#2`.
    """
    seen: dict[str, list[tuple[Turn, ...]]] = {}
    for identifier, date, turns in _sessions(item, key):
        where = f"session {identifier!r} of {key}"
        chat = HaystackSession(identifier, date, slashed(date, where), tuple(_turns(turns, where)))
        before = seen.setdefault(identifier, [])
        if chat.words in before:
            continue
        before.append(chat.words)
        yield chat if len(before) == 1 else replace(chat, id=f"{identifier}#{len(before)}")


def _lessons(key: str, haystack: Sequence[HaystackSession], turns: bool) -> Lessons:
    """Yield a lesson for each session or turn, with the session that its text comes from."""
    for at, part, position in cut_lessons([chat.turns for chat in haystack], turns):
        chat = haystack[at]
        head = Segment(
            project=key,
            id=f"{chat.id}:{part[0].place}" if turns else chat.id,
            text="",
            occurred_at=chat.time,
            role=speaker(part[0].turn) if turns else None,
            position=position,
        )
        yield head, Session(chat.date, tuple(said.turn for said in part), chat=True)


def _cited(evidence: Sequence[str], haystack: Sequence[HaystackSession], turns: bool) -> Iterator[Evidence]:
    """Yield the sessions with the evidence for an answer; at turn level the marked turns.

    If no turn is marked, the sessions are still cited, but resolve to nothing.
    """
    there = {chat.id for chat in haystack}
    marked = [f"{chat.id}:{said.place}" for chat in haystack for said in chat.turns if said.marked]
    if turns and marked:
        return (Evidence(one, one) for one in marked)
    return (Evidence(one, one if one in there and not turns else None) for one in dict.fromkeys(evidence))


def _sessions(item: Json, key: str) -> Iterator[tuple[str, str, list[Json]]]:
    identifiers = check_list(item, "haystack_session_ids", str, key)
    dates = check_list(item, "haystack_dates", str, key)
    sessions = check_list(item, "haystack_sessions", list, key)
    if not len(identifiers) == len(dates) == len(sessions):
        raise CorpusError(
            f"{key} has {len(identifiers)} haystack_session_ids, {len(dates)} haystack_dates "
            f"and {len(sessions)} haystack_sessions, which should be as many"
        )
    return zip(identifiers, dates, sessions, strict=True)


def _turns(turns: list[Json], where: str) -> Iterator[MarkedTurn]:
    for at, turn in enumerate(turns):
        place = f"turn {at} of {where}"
        turn = check_type(turn, dict, place)
        role, content = take(turn, "role", str, place), take(turn, "content", str, place)
        if content.strip():
            said = Turn(role, content, person=role != ASSISTANT)
            yield MarkedTurn(at + 1, said, turn.get("has_answer") is True)


def _question(item: Json, key: str, evidence: Iterable[Evidence]) -> Question:
    return Question(
        key=key,
        project=key,
        text=take(item, "question", str, key).replace("\0", ""),
        type=one_of(take(item, "question_type", str, key), TYPES, f"'question_type' of {key}"),
        evidence=tuple(evidence),
        as_of=slashed(take(item, "question_date", str, key), f"question {key}"),
    )


def _oracle(source: CorpusFile) -> CorpusError:
    """Return the error for the oracle file: its haystacks hold only evidence."""
    return CorpusError(
        f"{source.path} holds only evidence sessions, as the LongMemEval oracle file does, so that any "
        "ranking would score well on it; name longmemeval_s_cleaned.json"
    )


def _suite(name: str, title: str, keeper: Callable[[Write], SegmentBuilder], **files: Any) -> Suite:
    return suite_of(
        _parts, name, title, ("session", TURN), TYPES, keeper=keeper, counts=_abstentions,
        corpus={"scopes": (SearchScope("haystack"),)}, splits=PARITY, more_scopes=(POOL,), **files,
    )  # fmt: skip


LONGMEMEVAL = _suite(
    "longmemeval", "LongMemEval-S", InMemorySegments, other_files=("longmemeval_s_dev246.json",)
)
LONGMEMEVAL_M = _suite("longmemeval-m", "LongMemEval-M", OnDiskSegments, other_files=("longmemeval_m.json",))
