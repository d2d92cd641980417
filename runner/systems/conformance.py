"""The contract check of a system: a few dozen lessons in three projects, asked and validated as by a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.hashing import FeatureHashing
from pgmnemo.errors import DatabaseError, PgmnemoError, UsageError
from pgmnemo.escaping import escape_control_chars
from pgmnemo.records import Matrix
from runner.errors import SystemAbsent
from runner.protocol.editions import current
from runner.systems import (
    Lesson,
    Lessons,
    Match,
    Query,
    System,
    SystemContext,
    SystemSpec,
    open_system,
    spec_of,
)
from runner.systems.query_runner import AnswerValidator, ask_all, components_of, wrap_errors
from runner.systems.system import SupportsReset, SupportsRetrievers, SupportsThreads

PROJECTS = ("00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b",
            "00000000-0000-4000-8000-00000000000c")  # fmt: skip
PEOPLE = ("Ada", "Bram", "Chloe")
THINGS = (
    "planted a quince tree behind the old barn", "repaired the brass telescope of the school",
    "moved to a houseboat in the northern harbour", "learned to bake sourdough from a neighbour",
    "sold the blue accordion to a travelling band", "adopted a three-legged greyhound named Mistral",
    "won a prize for a poem about lighthouses", "started to keep bees on the roof of the library",
)  # fmt: skip
QUESTIONS = (
    "who planted a quince tree?",
    "What did Chloe tell Bram?",
    'Who said "the old barn" (or so)?',
    "can you recommend something about bees?",
    "Was it a year ago?",
    "…?",
)  # with a name, a phrase, a wish, a time, and without any: a run asks all kinds
WIDTH = 64
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FEW, MANY = 3, 50


def _vector(text: str) -> Matrix:
    row: Matrix = FeatureHashing(EmbedderOptions(dimensions=WIDTH)).embed_documents([text])[0]
    return row


class SmallLessons(Lessons):
    """Eight lessons for each of the given projects."""

    pooled = True

    def __init__(self, projects: Sequence[str] = PROJECTS, vectors: bool = True) -> None:
        self._projects, self._vectors = list(projects), vectors

    def __len__(self) -> int:
        return len(self._projects) * len(THINGS)

    @property
    def width(self) -> int | None:
        return WIDTH if self._vectors else None

    @property
    def projects(self) -> list[str]:
        return self._projects

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        project, thing = divmod(position, len(THINGS))
        name = self._projects[project]
        number = PROJECTS.index(name) * len(THINGS) + thing
        text = f"{PEOPLE[PROJECTS.index(name)]} {THINGS[thing]}."
        lesson = Lesson(number, name, f"{number:04}", text, _vector(text) if self._vectors else None)
        return self._told(lesson, thing) if name == PROJECTS[0] else lesson

    def _told(self, lesson: Lesson, thing: int) -> Lesson:
        """Return the lesson with its optional fields filled in: time, speaker, position, passages."""
        parts = (lesson.text.split(" ", 1)[0], lesson.text)
        return replace(
            lesson, occurred_at=NOW - timedelta(days=thing), role="user", position=thing, passages=parts,
            passage_vectors=np.stack([*map(_vector, parts)]) if self._vectors else None,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContractCheck:
    """The result of a check, in one sentence."""

    name: str
    holds: bool
    sentence: str


class ContractViolation(Exception):
    """An error: a check found a fault. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class LoadedSystem:
    """A system with its loaded lessons, which its answers are validated against."""

    name: str
    kind: SystemSpec
    system: System
    lessons: SmallLessons
    place: SystemContext

    def ask(
        self, texts: Sequence[str], project: str | None, k: int, workers: int = 1,
        settings: Mapping[str, str] | None = None,
    ) -> list[list[Match]]:  # fmt: skip
        """Return the answers to some questions, validated as in a run.

        Raises ContractViolation for a faulty answer.
        """
        queries = [
            Query(at, text, _vector(text) if self.lessons.width else None, project, NOW)
            for at, text in enumerate(texts)
        ]
        validator = AnswerValidator(self.name, self.lessons, components_of(self.system))
        found: list[list[Match]] = []
        try:
            asked = ask_all(self.system, self.name, queries, k, validator, workers=workers, settings=settings)
            found.extend(list(answer.matches) for answer in asked)
        except SystemAbsent:
            raise
        except PgmnemoError as error:
            raise ContractViolation(f"{error} ({texts[len(found)]!r})") from None
        return found


def check_system(name: str, context: SystemContext) -> Iterator[ContractCheck]:
    """Yield the result of each check as soon as it is known.

    Raises UsageError for an unknown system; SystemAbsent or DatabaseError if it cannot be run here.
    """
    kind = spec_of(name)
    lessons, opened = SmallLessons(vectors=kind.vectors), False
    try:
        with open_system(name, context) as system:
            with wrap_errors(name):
                version = system.facts().get("version", "")
            opened = True
            yield ContractCheck("opens", True, escape_control_chars(f"{kind.title} {version}".strip()))
            with wrap_errors(name):
                taken = round(100 * sum(system.load(lessons).values())) / 100
            yield ContractCheck("loads", True, f"{len(lessons)} lessons in {taken:.1f} s")
            bench = LoadedSystem(name, kind, system, lessons, context)
            yield from (_run_check(title, check, bench) for title, check in CHECKS.items())
        yield _run_check("a new opening is empty", _empties, bench)
    except (UsageError, SystemAbsent):
        raise
    except PgmnemoError as error:
        if isinstance(error, DatabaseError) and not opened:
            raise
        yield ContractCheck("opens and loads", False, str(error))


def _run_check(title: str, check: Callable[[LoadedSystem], str], bench: LoadedSystem) -> ContractCheck:
    try:
        return ContractCheck(title, True, check(bench))
    except SystemAbsent:
        raise
    except (ContractViolation, PgmnemoError) as error:
        return ContractCheck(title, False, str(error))


def _ids(bench: LoadedSystem) -> str:
    texts = [lesson.text for lesson in bench.lessons]
    found = 0
    for lesson, matches in zip(bench.lessons, bench.ask(texts, None, FEW), strict=True):
        found += lesson.number in [match.number for match in matches]
    if not found:
        raise ContractViolation(
            "no lesson was found by its own words: ids do not come back, or nothing is searched"
        )
    return f"{found} of {len(texts)} lessons are among the first {FEW} for their own words"


def _k(bench: LoadedSystem) -> str:
    text = bench.lessons[0].text
    sizes = [len(bench.ask([text], PROJECTS[0], k)[0]) for k in (1, FEW, MANY)]
    if sizes[0] != 1 or sizes[1] < sizes[0] or sizes[2] < sizes[1]:
        raise ContractViolation(f"k = 1, {FEW}, {MANY} gave {', '.join(map(str, sizes))} lessons")
    return f"k = 1, {FEW}, {MANY} gave {', '.join(map(str, sizes))} of the {len(THINGS)} lessons of a project"


def _scopes(bench: LoadedSystem) -> str:
    texts = [lesson.text for lesson in bench.lessons]
    for project in PROJECTS:
        bench.ask(texts, project, MANY)  # the validator rejects a lesson of another scope
    return f"{len(texts)} questions in each of {len(PROJECTS)} projects found that project's lessons alone"


def _questions(bench: LoadedSystem) -> str:
    for project in (*PROJECTS, None):
        bench.ask(QUESTIONS, project, MANY)  # the validator reports a faulty answer
    return f"{len(QUESTIONS)} questions of other words were answered in each project, and over all"


def _retrievers(bench: LoadedSystem) -> str:
    retrievers = bench.system.retrievers if isinstance(bench.system, SupportsRetrievers) else {}
    asked = {name: settings for name, (settings, _) in retrievers.items() if name in current().arms}
    for settings in asked.values():
        bench.ask(QUESTIONS, PROJECTS[0], MANY, settings=settings)
    return f"{' and '.join(asked)} answer by themselves" if asked else "it has no legs that a run asks"


def _costs(bench: LoadedSystem) -> str:
    """Check that sizes and memory are numbers, as the run's record requires."""
    with wrap_errors(bench.name):
        disk, memory = round(sum(bench.system.sizes().values())), bench.system.memory()
        return f"{disk / 1e6:.1f} MB on disk, {'?' if memory is None else round(memory / 1e6)} MB of memory"


def _repeats(bench: LoadedSystem) -> str:
    texts = [lesson.text for lesson in bench.lessons]
    first, second = (bench.ask(texts, PROJECTS[1], MANY) for _ in range(2))
    if first != second:
        raise ContractViolation("the same question was answered in two ways")
    return f"{len(texts)} questions were answered alike twice"


def _threads(bench: LoadedSystem) -> str:
    if not isinstance(bench.system, SupportsThreads):
        return "it has one client, and is asked by one thread"
    texts = [lesson.text for lesson in bench.lessons] * FEW
    alone, together = (bench.ask(texts, PROJECTS[2], MANY, workers=workers) for workers in (1, 4))
    if alone != together:
        raise ContractViolation("several clients at once were answered otherwise than one")
    return f"{len(texts)} questions of four clients at once were answered as those of one"


def _reset(bench: LoadedSystem) -> str:
    if not isinstance(bench.system, SupportsReset):
        return "it has nothing to reset: it is gone when it is closed"
    if not bench.place.allow_reset:
        return "not asked: --allow-reset lets the service be emptied for all its users"
    with wrap_errors(bench.name):
        bench.system.reset()
    left = sum(len(matches) for matches in bench.ask([bench.lessons[0].text], None, MANY))
    if left:
        raise ContractViolation(f"{left} lessons were found after a reset")
    return "nothing is found after a reset"


def _empties(bench: LoadedSystem) -> str:
    """Check that a second opening finds no lessons of the first, and can load a single project."""
    lessons = SmallLessons(PROJECTS[:1], vectors=bench.kind.vectors)
    with open_system(bench.name, bench.place) as system:
        with wrap_errors(bench.name):
            system.load(lessons)
        other = LoadedSystem(bench.name, bench.kind, system, lessons, bench.place)
        other.ask([lesson.text for lesson in bench.lessons], None, MANY)
    return "a second opening holds nothing of the first"


CHECKS: dict[str, Callable[[LoadedSystem], str]] = {
    "ids come back": _ids,
    "k is honoured": _k,
    "scopes are apart": _scopes,
    "questions are answered": _questions,
    "legs are answered": _retrievers,
    "answers repeat": _repeats,
    "clients agree": _threads,
    "costs are numbers": _costs,
    "reset empties": _reset,
}
