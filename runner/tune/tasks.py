"""What weights are judged on: a suite at one granularity, and the figures that count there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.editions import current
from runner.errors import UsageError
from runner.records import Corpus, Question, View
from runner.runs.choice import FULL
from runner.suites import SUITES

FIGURES = ("recall_any@5", "recall_any@10", "MRR@50", "recall_frac@10", "recall_all@5")
HEADLINE = FIGURES[:3]
AIMS = {  # figures whose sum the ascent makes as large as it can: those that the task has a target for
    ("locomo", "session"): (*HEADLINE, "recall_frac@10"),
    ("longmemeval", "session"): (*HEADLINE, "recall_all@5"),
}
EVERYTHING = View("all")
HELD_OUT = ("longmemeval",)  # suites whose registered file holds items that no weight may be fitted to
LEVELS = {"longmemeval": ("session",)}  # the vectors of its 174,504 turns would take a day
DEVELOPMENT = {"longmemeval": "longmemeval_s_dev246.json"}


@dataclass(frozen=True)
class Task:
    """One corpus at one granularity; `questions` are the scored ones, with their positions in it.

    Weights are fitted to those of `view` and judged by them; the others are reported beside.
    """

    corpus: Corpus
    questions: tuple[tuple[int, Question], ...]
    view: View = EVERYTHING

    @property
    def name(self) -> str:
        """Such as `locomo session`."""
        return f"{self.corpus.suite} {self.corpus.granularity}"

    @property
    def aims(self) -> tuple[int, ...]:
        """Places in FIGURES of those that the ascent looks at."""
        aims = AIMS.get((self.corpus.suite, self.corpus.granularity), HEADLINE)
        return tuple(FIGURES.index(aim) for aim in aims)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Which questions weights are fitted to and judged by."""
        return np.array([self.view(one.key, one.type) for _, one in self.questions])

    def clusters(self, rows: NDArray[np.bool_]) -> list[str] | None:
        """The cluster of each of some questions, where the corpus has clusters."""
        if not self.corpus.clustered:
            return None
        return [question.project for (_, question), row in zip(self.questions, rows, strict=True) if row]


def load_tasks(
    suite: str, data: Path | None, environ: Mapping[str, str], *, text: str = FULL, level: str = ""
) -> Iterator[Task]:
    """One task a granularity of `suite`, or of one `level`.

    CorpusError as a run's, UsageError for items kept for acceptance.
    """
    parts = SUITES[suite]
    path = _development(suite, parts.locate(data, environ))
    if suite in HELD_OUT and path.name.startswith(current().suite(suite).file):
        raise _kept(suite, str(path))  # unread
    for one in (level,) if level else LEVELS.get(suite, parts.levels):
        corpus = parts.load(path, one, text)
        if suite in HELD_OUT and corpus.sha256 == current().suite(suite).sha256:
            raise _kept(suite, corpus.path)  # the same under another name
        questions = tuple((at, one) for at, one in enumerate(corpus.questions) if one.scored and one.gold)
        if not questions:
            raise UsageError(f"no question of {corpus.path} has evidence, so nothing can be tuned by it")
        yield Task(corpus, questions, _view(suite))


def _view(suite: str) -> View:
    """The view that the headline of the suite is of."""
    pins = current().suites.get(suite)
    views = {view.name: view for view in SUITES[suite].views(current())}
    return views[pins.headline_view if pins else "all"]


def _development(suite: str, path: Path) -> Path:
    """Beside a registered file that holds kept items, the development file is meant."""
    name = DEVELOPMENT.get(suite)
    if name is None or path.name.startswith(name):
        return path
    beside = (path.with_name(f"{name}{packing}") for packing in ("", ".xz", ".gz"))
    return next((one for one in beside if one.is_file()), path)


def _kept(suite: str, path: str) -> UsageError:
    return UsageError(
        f"{path} holds the items of {suite} that are kept for acceptance, and weights fitted to them would "
        f"prove nothing; name its development items with --data {suite}=PATH"
    )
