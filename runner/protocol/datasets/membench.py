"""MemBench (Tan et al., ACL 2025, arXiv:2506.21605): questions over a user's statements or over observations.

Both published shapes are read. `MemData/<agent>/<category>.json` is an object of topics, each a list of
trajectories; the files of `data2test`, mixed with noise, have the categories above the topics. A trajectory
is a project with one question. It has a list of messages, or of sessions of messages; a message is a string,
or an object with the words of the user and of the assistant. A step is one message with the words of both.
`target_step_id` counts steps from 0, or names [message, session] if there are sessions, as in the authors'
own `load_test_data.py`. The published files were not available: the loader is tested on small files of these
shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import Lessons, cut_lessons, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, check_type, one_of, take
from runner.protocol.datasets.segment_store import OnDiskSegments
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

TYPES = (
    "simple", "highlevel", "knowledge_update", "comparative", "conditional", "noisy", "aggregative",
    "highlevel_rec", "lowlevel_rec", "RecMultiSession", "post_processing",
)  # fmt: skip
FOLDER_OF = ("*Agent/*.json", "*Agent*.json")
USER, ASSISTANT = ("user_message", "user", "message"), ("assistant_message", "assistant", "agent")

Steps = list[list[tuple[Turn, ...]]]
"""The steps of each session."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One trajectory: its project, its category, and its record in the file."""

    project: str
    type: str
    record: Json


def _parts(source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield the lessons and the question of each trajectory; CorpusError names a faulty trajectory."""
    for name in source.some("MemBench", *FOLDER_OF):
        for one in _trajectories(source, name):
            steps = _steps(one)
            yield _lessons(one, steps), [_question(one, steps)]


def _trajectories(source: CorpusFile, name: str) -> Iterator[Trajectory]:
    """Yield the trajectories of one file. Their category is the file's name, or the key above the topics."""
    where, stem = str(source.path / name), name.removesuffix(".json")
    document = check_type(source.within(name).document(), dict, f"what {where} holds")
    whole = {stem.rpartition("/")[2]: document} if _topics(document) else document
    for kind in whole:
        one_of(kind, TYPES, f"a category of {where}")
        place = stem if whole is not document else f"{stem}/{kind}"
        topics = take(whole, kind, dict, where)
        for topic in topics:
            for at, record in enumerate(check_list(topics, topic, dict, f"{kind} of {where}")):
                yield Trajectory(f"{place}/{topic}/{at}", kind, record)


def _topics(document: Json) -> bool:
    """Return whether every value of the document is a list of trajectories."""
    return all(isinstance(value, list) for value in document.values())


def _steps(one: Trajectory) -> Steps:
    given = take(one.record, "message_list", list, one.project)
    nested = bool(given) and all(isinstance(part, list) for part in given)
    sessions = (
        [list(check_type(part, list, f"a session of {one.project}")) for part in given] if nested else [given]
    )
    return [
        [
            _step(message, f"message {at} of session {number} of {one.project}")
            for at, message in enumerate(part)
        ]
        for number, part in enumerate(sessions)
    ]


def _step(message: Any, where: str) -> tuple[Turn, ...]:
    """Return the turns of one step; its place and time, if given, are appended to the user's words."""
    if isinstance(message, str):
        return (Turn("", message),)
    record = check_type(message, dict, where)
    user, assistant = (_said(record, names, where) for names in (USER, ASSISTANT))
    if not user and not assistant:
        raise CorpusError(f"{where} has none of: {', '.join((*USER, *ASSISTANT))}")
    beside = "; ".join(f"{key}: {record[key]}" for key in ("place", "time") if record.get(key))
    said = Turn("user" if assistant else "", f"{user} ({beside})" if beside else user)
    return (said, Turn("assistant", assistant, person=False)) if assistant else (said,)


def _said(record: Json, names: tuple[str, ...], where: str) -> str:
    value = next((record[name] for name in names if record.get(name)), "")
    return check_type(value, str, f"what is said in {where}")


def _lessons(one: Trajectory, steps: Steps) -> Lessons:
    sessions = [list(enumerate(session)) for session in steps]
    for number, [(at, step)], position in cut_lessons(sessions, turns=True):
        head = Segment(one.project, _id(one.project, number, at), "", position=position)
        yield head, Session("", step, chat=True)


def _id(project: str, session: int, step: int) -> str:
    return f"{project}/s{session}:{step}"


def _question(one: Trajectory, steps: Steps) -> Question:
    asked = take(one.record, "QA", dict, one.project)
    cited = take(asked, "target_step_id", list, f"the question of {one.project}")
    evidence = dict.fromkeys(_evidence(one, target, steps) for target in cited)
    return Question(
        key=f"{one.project}/q",
        project=one.project,
        text=take(asked, "question", str, f"the question of {one.project}").replace("\0", ""),
        type=one.type,
        evidence=tuple(evidence),
    )


def _evidence(one: Trajectory, target: Any, steps: Steps) -> Evidence:
    """Return the evidence of a target: a step number of the trajectory, or [message, session].

    Its segment is None if there is no such step.
    """
    numbers = target if isinstance(target, list) else [target]
    if not 1 <= len(numbers) <= 2 or any(isinstance(n, bool) or not isinstance(n, int) for n in numbers):
        raise CorpusError(f"'target_step_id' of {one.project} holds {target!r}, which is no step")
    if len(numbers) == 2:
        at, session = numbers
    else:
        session, at = _counted(numbers[0], steps)
    there = 0 <= session < len(steps) and 0 <= at < len(steps[session])
    return Evidence(str(target), _id(one.project, session, at) if there else None)


def _counted(number: int, steps: Steps) -> tuple[int, int]:
    """Return (session, step in the session) of a step by its number over all sessions."""
    for session, part in enumerate(steps):
        if number < len(part):
            return session, number
        number -= len(part)
    return len(steps), number


MEMBENCH = suite_of(
    _parts, "membench", "MemBench", ("turn",), TYPES, keeper=OnDiskSegments, folder_of=FOLDER_OF
)
