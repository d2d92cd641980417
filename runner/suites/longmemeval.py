"""LongMemEval-S (Wu et al., ICLR 2025): each question has a haystack of about 48 sessions, its project.

Empty turns are dropped, and neither ids nor `has_answer` are indexed. The same session stands in many
haystacks, often under another date: a segment is a (haystack, id) pair, and `id` is the corpus's session id.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner.errors import CorpusError
from runner.records import Corpus, Evidence, Json, Passage, Question, SearchScope, Segment
from runner.suites.dates import slashed
from runner.suites.reading import Source
from runner.suites.schema import distinct, each, one_of, take, typed
from runner.suites.shape import counted
from runner.suites.splits import PARITY
from runner.suites.suite import Suite, Write
from runner.texts import Session, Turn, Written

TYPES = (
    "single-session-user", "multi-session", "single-session-preference",
    "temporal-reasoning", "knowledge-update", "single-session-assistant",
)  # fmt: skip
ASSISTANT = "assistant"
ABSTENTION = "_abs"  # in the key of a question that its haystack cannot answer


def read(source: Source, level: str, write: Write) -> Corpus:
    """The corpus, read item by item; CorpusError names the item that is wrong, or the oracle file."""
    segments: list[Segment] = []
    questions: list[Question] = []
    texts = Texts(write)
    for at, item in enumerate(source.items()):
        key = take(item, "question_id", str, f"item {at} of {source.path}")
        haystack = list(_haystack(item, key, texts))
        segments += haystack
        questions.append(_question(item, key, {segment.id for segment in haystack}))
    distinct((question.key for question in questions), f"in {source.path} the question_id")
    _refuse_oracle(source, segments, questions)
    return Corpus(
        suite="longmemeval",
        path=str(source.path),
        sha256=source.sha256(),
        granularity=level,
        segments=tuple(segments),
        questions=tuple(questions),
        scopes=(SearchScope("haystack"),),
        shape=counted(segments, questions, TYPES, abstention=sum(is_abstention(q.key) for q in questions)),
    )


class Texts:
    """Sessions as written; what is equal becomes one object, for one session stands in many haystacks."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._texts: dict[str, str] = {}
        self._passages: dict[tuple[Passage, ...], tuple[Passage, ...]] = {}

    def written(self, session: Session) -> Written:
        """The session's text and passages."""
        new = self._write(session)
        return Written(
            self._texts.setdefault(new.text, new.text), self._passages.setdefault(new.passages, new.passages)
        )


def is_abstention(key: str) -> bool:
    """Whether a question asks for what the haystack does not say (30 of 500)."""
    return ABSTENTION in key


def _haystack(item: Json, key: str, texts: Texts) -> Iterator[Segment]:
    """The sessions of one haystack, in its order.

    An id that stands there twice with the same turns is one session, under its first date (so in all
    cases seen); with other turns the second one is kept too, as `<id>#2`.
    """
    seen: dict[str, list[tuple[Turn, ...]]] = {}
    for identifier, date, turns in _sessions(item, key):
        said = tuple(_turns(turns, f"session {identifier!r} of {key}"))
        before = seen.setdefault(identifier, [])
        if said in before:
            continue
        before.append(said)
        written = texts.written(Session(date, said, chat=True))
        yield Segment(
            project=key,
            id=identifier if len(before) == 1 else f"{identifier}#{len(before)}",
            text=written.text,
            occurred_at=slashed(date, f"session {identifier!r} of {key}"),
            passages=written.passages,
        )


def _sessions(item: Json, key: str) -> Iterator[tuple[str, str, list[Json]]]:
    identifiers = each(item, "haystack_session_ids", str, key)
    dates = each(item, "haystack_dates", str, key)
    sessions = each(item, "haystack_sessions", list, key)
    if not len(identifiers) == len(dates) == len(sessions):
        raise CorpusError(
            f"{key} has {len(identifiers)} haystack_session_ids, {len(dates)} haystack_dates "
            f"and {len(sessions)} haystack_sessions, which should be as many"
        )
    return zip(identifiers, dates, sessions, strict=True)


def _turns(turns: list[Json], where: str) -> Iterator[Turn]:
    for at, turn in enumerate(turns):
        place = f"turn {at} of {where}"
        turn = typed(turn, dict, place)
        role, content = take(turn, "role", str, place), take(turn, "content", str, place)
        if content.strip():
            yield Turn(role, content, person=role != ASSISTANT)


def _question(item: Json, key: str, segments: set[str]) -> Question:
    cited = dict.fromkeys(each(item, "answer_session_ids", str, key))
    return Question(
        key=key,
        project=key,
        text=take(item, "question", str, key).replace("\0", ""),
        type=one_of(take(item, "question_type", str, key), TYPES, f"'question_type' of {key}"),
        evidence=tuple(Evidence(one, one if one in segments else None) for one in cited),
        as_of=slashed(take(item, "question_date", str, key), f"question {key}"),
    )


def _refuse_oracle(source: Source, segments: list[Segment], questions: list[Question]) -> None:
    """Retrieval from haystacks of nothing but evidence gives near-perfect figures that mean nothing."""
    gold = {(question.project, one) for question in questions for one in question.gold}
    if all((segment.project, segment.id) in gold for segment in segments):
        raise CorpusError(
            f"{source.path} holds only evidence sessions, as the LongMemEval oracle file does, so that any "
            "ranking would score well on it; name longmemeval_s_cleaned.json"
        )


LONGMEMEVAL = Suite(
    name="longmemeval",
    title="LongMemEval-S",
    levels=("session",),
    types=TYPES,
    read=read,
    other_files=("longmemeval_s_dev246.json",),
    splits=PARITY,
    more_scopes=(SearchScope("pool", pooled=True),),
)
