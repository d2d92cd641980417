"""REALTALK (Lee et al., 2025): ten chats of two people over messengers, a file and a project each.

The session of a turn is the number in its `dia_id`: some sessions have two keys, and the number of the later
key differs. `events_session_N`, answers and ids are never indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOLED, Lessons, cut_lessons, speaker, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, check_type, number_repeats, take
from runner.protocol.datasets.dates import dotted
from runner.protocol.datasets.locomo import SESSION, TURN_ID, locomo_questions, segment_id
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
CHATS = "Chat_*.json"
CHAT = re.compile(r"(Chat_[1-9]\d*)_.+\.json")
ID = re.compile(r"D:?(\d{1,9}):(\d{1,9})")
CITED = r"D\s*:?\s*(\d{1,9})\s*:\s*"  # the session part of an id; one id is `D 2:18`
SPAN = re.compile(rf"{CITED}(\d{{1,9}})(?:\s*[-–]\s*(?:{CITED})?(\d{{1,9}}))?")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """A turn: its session, its number in the session, its date as text and as a time, and the words."""

    session: int
    number: int
    date: str
    time: datetime
    turn: Turn


def _parts(source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield the lessons and questions of each chat; CorpusError names a faulty file."""
    turns = level == "turn"
    for name, project in _chats(source):
        chat = check_type(source.within(name).document(), dict, f"what {source.path / name} holds")
        said = _said(chat, name)
        yield _lessons(project, said, turns), _questions(chat, name, project, said, turns)


def _chats(source: CorpusFile) -> list[tuple[str, str]]:
    """Return (file name, project) pairs, in order of the chats' numbers."""
    found: dict[str, str] = {}
    for name in source.entries(".json"):
        chat = CHAT.fullmatch(name)
        if chat is None or not (source.path / name).is_file():
            raise CorpusError(
                f"{source.path / name} is no file of REALTALK, whose chats are named {CHATS}; take it out"
            )
        if chat[1] in found:
            raise CorpusError(f"{found[chat[1]]} and {name} of {source.path} are one chat; take one out")
        found[chat[1]] = name
    if not found:
        raise CorpusError(f"the folder {source.path} holds no file {CHATS}; fetch the corpus again")
    return sorted(((name, chat) for chat, name in found.items()), key=lambda one: int(one[1][5:]))


def _said(chat: Json, name: str) -> list[ChatTurn]:
    """Return every turn, ordered by session, and within a session as in the file."""
    keys = sorted((key for key in chat if SESSION.fullmatch(key)), key=lambda key: int(key[8:]))
    said = [
        _turn(turn, f"turn {at + 1} of {key} of {name}")
        for key in keys
        for at, turn in enumerate(check_list(chat, key, dict, name))
    ]
    return sorted(said, key=lambda one: one.session)


def _turn(turn: Json, where: str) -> ChatTurn:
    given = take(turn, "dia_id", str, where)
    identifier = ID.fullmatch(given.strip())
    if identifier is None:
        raise CorpusError(f"'dia_id' of {where} is {given!r}, not D<session>:<turn>")
    date = take(turn, "date_time", str, where)
    caption = check_type(turn.get("blip_caption") or "", str, f"the caption of {where}")
    words = Turn(take(turn, "speaker", str, where), take(turn, "clean_text", str, where), caption)
    return ChatTurn(int(identifier[1]), int(identifier[2]), date, dotted(date, where), words)


def _lessons(project: str, said: Sequence[ChatTurn], turns: bool) -> Lessons:
    """Yield each session, or each turn, as a lesson with the earliest time of its session."""
    sessions = [list(group) for _, group in groupby(said, lambda one: one.session)]
    firsts = [min(session, key=lambda one: one.time) for session in sessions]
    parts = list(cut_lessons(sessions, turns))
    ids = number_repeats(
        segment_id(project, firsts[at].session, part[0].number, turns) for at, part, _ in parts
    )
    for identifier, (at, part, position) in zip(ids, parts, strict=True):
        head = Segment(
            project=project,
            id=identifier,
            text="",
            occurred_at=firsts[at].time,
            role=speaker(part[0].turn) if turns else None,
            position=position,
        )
        yield head, Session(firsts[at].date, tuple(one.turn for one in part))


def _questions(
    chat: Json, name: str, project: str, said: Sequence[ChatTurn], turns: bool
) -> Iterator[Question]:
    known = [(one.session, one.number) for one in said]
    now = max((one.time for one in said), default=None)

    def evidence(entry: Json, where: str) -> tuple[Evidence, ...]:
        given = entry.get("evidence")
        strings = [given] if isinstance(given, str) else check_list(entry, "evidence", str, where)
        return resolve_spans(strings, project, known, turns)

    return locomo_questions(check_list(chat, "qa", dict, name), CATEGORIES, project, name, now, evidence)


def resolve_spans(
    strings: Iterable[str], project: str, known: Sequence[tuple[int, int]], turns: bool
) -> tuple[Evidence, ...]:
    """Return the evidence of REALTALK's strings; `known` are the (session, turn) pairs of a chat.

    Every id in every string is read, with or without blanks in it (`D 2:18`), and a range (`D12:3-D12:5`)
    stands for its two ends and each known turn between them; a repeated id counts once. A string without an
    id is no citation; nor is an id with a session that the chat lacks, as long as the question cites another.
    """
    found = {pair: None for text in strings for m in SPAN.finditer(text) for pair in _span(m, known)}
    sessions, existing = {session for session, _ in known}, set(known)
    cited = [pair for pair in found if pair[0] in sessions] or list(found)
    there = {pair for pair in cited if (pair in existing if turns else pair[0] in sessions)}
    return tuple(
        Evidence(f"D{pair[0]}:{pair[1]}", segment_id(project, *pair, turns) if pair in there else None)
        for pair in cited
    )


def _span(match: re.Match[str], known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first = int(match[1]), int(match[2])
    yield first
    if match[4] is not None:
        last = int(match[3] or match[1]), int(match[4])
        yield from (pair for pair in known if min(first, last) < pair < max(first, last))
        yield last


REALTALK = suite_of(
    _parts, "realtalk", "REALTALK", ("session", "turn"), tuple(CATEGORIES.values()), turns=True,
    corpus={**POOLED, "labels": (TURN_ID,)}, folder_of=(CHATS,),
    unsplit="has no split: no weight is chosen on it",
)  # fmt: skip
