"""KnowMe-Bench (Wu et al., 2026, arXiv:2601.04745): three autobiographical narratives in English.

A data set is a project, and an entry of its time-anchored stream is a lesson: what was done, said, seen and
thought at one time. Gold is the entries that the answers cite; answers, reasons and ids are never indexed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOLED, Lessons, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile, check_type, take
from runner.protocol.datasets.dates import Times
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

TYPES = (
    "Information Extraction", "Adversarial Abstention", "Temporal Reasoning", "Logical Event Ordering",
    "Mnestic Trigger Analysis", "Mind-Body Interaction", "Expert-Annotated Psychoanalysis",
)  # fmt: skip
STREAMS = "dataset*/input/*.json"
ENDINGS = ("s", "")  # `_questions.json` in dataset1, `_question.json` in the others; so with answers
FIELDS = ("location", "action", "dialogue", "environment", "background", "inner_thought", "mind")
CITED = ("evidence", "evidence_ids")


def _parts(source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield the lessons and questions of each data set; CorpusError names a faulty file."""
    for project in _projects(source):
        lessons = list(_lessons(source, project))
        yield lessons, _questions(source, project, [head for head, _ in lessons])


def _projects(source: CorpusFile) -> list[str]:
    """Return the names of the data sets; a data set without its stream is an error."""
    folders = sorted({name.partition("/")[0] for name in source.names("dataset*/*/*.json")})
    for folder in folders:
        if not (source.path / folder / "input" / f"{folder}.json").is_file():
            raise CorpusError(
                f"{source.path / folder} holds no input/{folder}.json; fetch it, or take the data set out"
            )
    return folders


def _lessons(source: CorpusFile, project: str) -> Lessons:
    """Yield each entry as a lesson, in the order of the stream, with its fields a line each."""
    name = f"{project}/input/{project}.json"
    times = Times(str(source.path / name))
    for at, entry in enumerate(_entries(source, name), start=1):
        where = f"entry {at} of {source.path / name}"
        date = check_type(entry.get("timestamp") or "", str, f"'timestamp' of {where}")
        fields = {key.lower(): value for key, value in entry.items() if isinstance(value, str) and value}
        head = Segment(
            project=project,
            id=f"{project}/{take(entry, 'id', int, where)}",
            text="",
            occurred_at=times.read(date, where) if date else None,
            position=at,
        )
        yield head, Session(date, (Turn("", "\n".join(fields[key] for key in FIELDS if key in fields)),))


def _questions(source: CorpusFile, project: str, heads: list[Segment]) -> Iterator[Question]:
    """Yield the questions of a data set, task by task; an id that no entry has is no citation."""
    known = {head.id for head in heads}
    now = max((head.occurred_at for head in heads if head.occurred_at), default=None)
    for task in TYPES:
        asked, answers = (_task(source, project, task, kind) for kind in ("question", "answer"))
        for key, entry in asked.items():
            where = f"{task} {key} of {source.path / project}"
            if key not in answers:
                raise CorpusError(f"{where} has no entry among the answers; fetch the data set again")
            cited = dict.fromkeys(f"{project}/{one}" for one in _ids(answers[key], where))
            yield Question(
                key=f"{project}/{task.replace(' ', '-')}/{key}",  # a TREC run has no blank in a key
                project=project,
                text=take(entry, "question", str, where).replace("\0", ""),
                type=task,
                evidence=tuple(Evidence(one, one) for one in cited if one in known),
                as_of=now,
            )


def _task(source: CorpusFile, project: str, task: str, kind: str) -> dict[str, Json]:
    """Return the entries of a task's file by id."""
    names = [f"{project}/{kind}/{task}_{kind}{ending}.json" for ending in ENDINGS]
    name = next((one for one in names if (source.path / one).is_file()), None)
    if name is None:
        raise CorpusError(f"{source.path / names[1]} does not exist; fetch it, or take the data set out")
    return {str(entry.get("id")): entry for entry in _entries(source, name)}


def _entries(source: CorpusFile, name: str) -> list[Json]:
    where = f"what {source.path / name} holds"
    entries = check_type(source.within(name).document(), list, where)
    return [check_type(entry, dict, f"entry {at} of {where}") for at, entry in enumerate(entries, start=1)]


def _ids(answer: Json, where: str) -> Iterator[int]:
    """Yield the ids of the entries that an answer cites: a list, one id, or none."""
    given: Any = next((answer[key] for key in CITED if answer.get(key) is not None), [])
    for one in given if isinstance(given, list) else [given]:
        yield check_type(one, int, f"the evidence of {where}")


KNOWME = suite_of(
    _parts, "knowme", "KnowMe-Bench", ("entry",), TYPES, corpus={**POOLED}, file="KnowmeBench",
    folder_of=(STREAMS,), unsplit="has no split: nothing is ever chosen on it",
)  # fmt: skip
