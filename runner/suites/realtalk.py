"""REALTALK (Lee et al., 2025): ten chats of two people over messengers, a file and a project each.

The session of a turn is the number in its `dia_id`: some sessions stand under two keys, and the number of the
later keys is another. `events_session_N`, answers and ids are never indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from runner.errors import CorpusError
from runner.records import Corpus, Evidence, Json, Question, SearchScope, Segment
from runner.suites.citations import resolve_spans, segment_id
from runner.suites.dates import dotted
from runner.suites.locomo import SESSION, TURN_ID, asked
from runner.suites.order import positions, speaker
from runner.suites.reading import Source
from runner.suites.schema import each, numbered, take, typed
from runner.suites.shape import counted
from runner.suites.suite import Suite, Write
from runner.texts import Session, Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
CHATS = "Chat_*.json"
CHAT = re.compile(r"(Chat_[1-9]\d*)_.+\.json")
ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: its session, its number there, when it was said as given and as a time, and the words."""

    session: int
    number: int
    date: str
    time: datetime
    turn: Turn


def read(source: Source, level: str, write: Write) -> Corpus:
    """The corpus at `level` ("session" or "turn") from the chats of a folder; CorpusError names the file."""
    segments: list[Segment] = []
    questions: list[Question] = []
    turns = level == "turn"
    count = 0
    for name, project in _chats(source):
        chat = typed(source.within(name).document(), dict, f"what {source.path / name} holds")
        said = _said(chat, name)
        count += len(said)
        segments += _segments(project, said, turns, write)
        questions += _questions(chat, name, project, said, turns)
    return Corpus(
        suite="realtalk",
        path=str(source.path),
        sha256=source.sha256(),
        files=source.files,
        granularity=level,
        segments=tuple(segments),
        questions=tuple(questions),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        clustered=True,
        shape=counted(segments, questions, tuple(CATEGORIES.values()), turns=count),
        labels=(TURN_ID,),
    )


def _chats(source: Source) -> list[tuple[str, str]]:
    """(name of the file, project) in order of the chats' numbers."""
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


def _said(chat: Json, name: str) -> list[Said]:
    """Every turn, in the order of sessions, and within one in the order of the file."""
    keys = sorted((key for key in chat if SESSION.fullmatch(key)), key=lambda key: int(key[8:]))
    said = [
        _turn(turn, f"turn {at + 1} of {key} of {name}")
        for key in keys
        for at, turn in enumerate(each(chat, key, dict, name))
    ]
    return sorted(said, key=lambda one: one.session)


def _turn(turn: Json, where: str) -> Said:
    given = take(turn, "dia_id", str, where)
    identifier = ID.fullmatch(given.strip())
    if identifier is None:
        raise CorpusError(f"'dia_id' of {where} is {given!r}, not D<session>:<turn>")
    date = take(turn, "date_time", str, where)
    caption = typed(turn.get("blip_caption") or "", str, f"the caption of {where}")
    words = Turn(take(turn, "speaker", str, where), take(turn, "clean_text", str, where), caption)
    return Said(int(identifier[1]), int(identifier[2]), date, dotted(date, where), words)


def _segments(project: str, said: Sequence[Said], turns: bool, write: Write) -> Iterator[Segment]:
    """Each session, or each turn, with the time of the session's first turn."""
    sessions = [list(group) for _, group in groupby(said, lambda one: one.session)]
    for session, order in zip(sessions, positions(map(len, sessions), turns), strict=True):
        first = min(session, key=lambda one: one.time)
        parts = [[one] for one in session] if turns else [session]
        ids = numbered(segment_id(project, first.session, part[0].number, turns) for part in parts)
        for part, identifier, position in zip(parts, ids, order, strict=True):
            written = write(Session(first.date, tuple(one.turn for one in part)))
            yield Segment(
                project=project,
                id=identifier,
                text=written.text,
                occurred_at=first.time,
                role=speaker(part[0].turn) if turns else None,
                passages=written.passages,
                position=position,
            )


def _questions(chat: Json, name: str, project: str, said: Sequence[Said], turns: bool) -> Iterator[Question]:
    known = [(one.session, one.number) for one in said]
    now = max((one.time for one in said), default=None)

    def evidence(entry: Json, where: str) -> tuple[Evidence, ...]:
        given = entry.get("evidence")
        strings = [given] if isinstance(given, str) else each(entry, "evidence", str, where)
        return resolve_spans(strings, project, known, turns)

    return asked(each(chat, "qa", dict, name), CATEGORIES, project, name, now, evidence)


REALTALK = Suite(
    name="realtalk",
    title="REALTALK",
    levels=("session", "turn"),
    types=tuple(CATEGORIES.values()),
    read=read,
    folder_of=(CHATS,),
    unsplit="has no split: nothing is ever chosen on it",
)
