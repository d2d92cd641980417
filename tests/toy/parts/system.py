"""A toy system: the lessons with the most of the question's words, the first stored first."""

from __future__ import annotations

from collections.abc import Mapping

from pgmnemo.progress import QUIET, Progress
from runner.systems.system import Lessons, Match, Query, System, SystemContext, SystemSpec


class Toy(System):
    def __init__(self, place: SystemContext) -> None:
        self.lessons: list[tuple[str, int, set[str]]] = []

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.lessons = [(one.project, one.number, set(one.text.lower().split())) for one in lessons]
        return {}

    def ask(self, query: Query, k: int) -> list[Match]:
        asked = set(query.text.lower().split())
        mine = [row for row in self.lessons if query.project in (None, row[0])]
        found = sorted((-len(asked & words), number) for _, number, words in mine)
        return [Match(number, float(-missed)) for missed, number in found[:k]]


TOY = SystemSpec("the toy", "words in common, texts alone", Toy, vectors=False, hybrid=False)
