"""The shared steps of the loaders: cut sessions into lessons, store the lessons, count everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from runner.errors import CorpusError
from runner.protocol.datasets.corpus_file import CorpusFile, check_distinct
from runner.protocol.datasets.segment_store import InMemorySegments, SegmentBuilder
from runner.protocol.datasets.suite import Suite, Write
from runner.protocol.templates import Session, Turn
from runner.records import Corpus, Question, SearchScope, Segment, StoredSegments

T = TypeVar("T")
MAX_QUESTION = 100_000  # bytes that the extension takes
POOL = SearchScope("pool", pooled=True)
CONVERSATION = (SearchScope("conversation"),)
POOLED = {"scopes": (*CONVERSATION, POOL), "clustered": True}  # for a corpus of several long conversations
Lessons = Iterable[tuple[Segment, Session]]
"""All of each lesson but its text and passages, and the session that these are written from."""
Parts = Callable[[CorpusFile, str], Iterator[tuple[Lessons, Iterable[Question]]]]
"""The lessons and questions of each project, one after the other, at a level."""


def cut_lessons(
    sessions: Iterable[Sequence[T]], turns: bool
) -> Iterator[tuple[int, Sequence[T], int | None]]:
    """Yield the lessons of a project: index of the session, turns of the lesson, and its position (§2.9).

    If a lesson is one turn, positions count from 1; within a session they differ by 1, and between two
    sessions one number is skipped, so that neighbours are always of one session. If a lesson is a whole
    session (`turns` False), its position is None.
    """
    start = 1
    for at, session in enumerate(sessions):
        if not turns:
            yield at, session, None
        for place, turn in enumerate(session if turns else ()):
            yield at, [turn], start + place
        start += len(session) + 1


def speaker(turn: Turn) -> str | None:
    """Return the speaker of a turn without NUL, which no database stores; None if no speaker is named."""
    return turn.speaker.replace("\0", "") or None


def suite_of(
    parts: Parts, name: str, title: str, levels: tuple[str, ...], types: Sequence[str], *,
    keeper: Callable[[Write], SegmentBuilder] = InMemorySegments, turns: bool = False,
    counts: Callable[[Sequence[Question]], dict[str, int]] | None = None,
    corpus: Mapping[str, Any] = MappingProxyType({}), **more: Any,
) -> Suite:  # fmt: skip
    """Return a suite that reads its corpus with `parts`.

    The corpus's shape counts turns if `turns` is set, and the counts that `counts` returns. `corpus` are
    fields of the Corpus, `more` are fields of the Suite.
    """

    def read(source: CorpusFile, level: str, write: Write) -> Corpus:
        kept, questions, said = keeper(write), list[Question](), 0
        for lessons, asked in parts(source, level):
            for head, session in lessons:
                kept.add(head, session)
                said += len(session.turns)
            questions += asked
        counted = {**({"turns": said} if turns else {}), **(counts(questions) if counts else {})}
        return build_corpus(source, name, level, kept.segments, questions, types, counted, **corpus)

    return Suite(name, title, levels, tuple(types), read, **more)


def build_corpus(
    source: CorpusFile, suite: str, level: str, segments: Sequence[Segment], questions: Sequence[Question],
    types: Sequence[str], counts: dict[str, int], *, scopes: Sequence[SearchScope] = CONVERSATION,
    **more: Any,
) -> Corpus:  # fmt: skip
    """Return the corpus of these segments and questions.

    Raises CorpusError for a repeated lesson or question, and a question that is too long to be asked.
    """
    check_distinct((question.key for question in questions), f"in {source.path} the question")
    for one in questions:
        if one.scored and (size := len(one.text.encode(errors="surrogatepass"))) > MAX_QUESTION:
            raise CorpusError(
                f"in {source.path} the question {one.key} has {size:,} bytes; shorten it to {MAX_QUESTION:,}"
            )
    if not isinstance(segments, StoredSegments):
        pairs = ((segment.project, segment.id) for segment in segments)
        check_distinct(pairs, f"in {source.path} the segment")
    return Corpus(
        suite=suite,
        path=str(source.path),
        sha256=source.sha256(),
        files=source.files,
        granularity=level,
        segments=segments,
        questions=tuple(questions),
        scopes=tuple(scopes),
        shape=shape(segments, questions, types, counts),
        **more,
    )


def shape(
    segments: Sequence[Segment], questions: Sequence[Question], types: Sequence[str], counts: dict[str, int]
) -> dict[str, int]:
    """Return the counts of a corpus: projects, segments, questions, scored, `counts`, and questions by type.

    `answerable` is added if some scored question has no gold segment; such questions are not asked.
    """
    heads = segments.heads() if isinstance(segments, StoredSegments) else segments
    scored = sum(question.scored for question in questions)
    answerable = sum(bool(question.gold) for question in questions)
    by_type = Counter(question.type for question in questions)
    return {
        "projects": len({segment.project for segment in heads}),
        "segments": len(segments),
        "questions": len(questions),
        "scored": scored,
        **({"answerable": answerable} if answerable < scored else {}),
        **counts,
        **{name: by_type[name] for name in types},
    }
