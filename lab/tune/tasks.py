"""The tasks of a tuning: a suite at one granularity, its figures, and the layout of its lessons in arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.protocol.metrics import Metric, metrics_for
from runner.protocol.metrics.metric import NOWHERE, GoldRanks
from runner.protocol.statistics import Interval
from runner.records import Corpus, Json, Question, Segment, View
from runner.runs.canonical import significant
from runner.runs.config import FULL

FIGURES = ("recall_any@5", "recall_any@10", "MRR@50", "recall_frac@10", "recall_all@5")
HEADLINE = FIGURES[:3]
AIMS = {  # figures with a target for the task: the ascent maximizes their sum
    ("locomo", "session"): (*HEADLINE, "recall_frac@10"),
    ("longmemeval", "session"): (*HEADLINE, "recall_all@5"),
}
EVERYTHING = View("all")
NEVER_TUNED = ("realtalk", "lifebench", "lifebench-zh", "knowme")
"""No weight may be fitted to these suites; of LifeBench two persons are development data, as files."""
HELD_OUT = ("longmemeval",)  # suites with items in their registered file that no weight may be fitted to
# LongMemEval only by session, because the vectors of its 174,504 turns would take a day.
LEVELS = {"longmemeval": ("session",), "file": ("session",)}
DEVELOPMENT = {"longmemeval": "longmemeval_s_dev246.json"}
BLOCK = 64  # questions
DIGITS = 8

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """A corpus at one granularity; `questions` are the scored questions, with their positions in the corpus.

    Weights are fitted to the questions of `view` and judged by them; the others are only reported.
    """

    corpus: Corpus
    questions: tuple[tuple[int, Question], ...]
    view: View = EVERYTHING

    @property
    def family(self) -> str:
        """Return the name of the corpus: its suite, or for a user's own corpus the file's name without
        endings.
        """
        suite = self.corpus.suite
        return Path(self.corpus.path).name.partition(".")[0] if SUITES[suite].own else suite

    @property
    def name(self) -> str:
        """The name of the task, such as `locomo session`."""
        return f"{self.family} {self.corpus.granularity}"

    @property
    def aims(self) -> tuple[int, ...]:
        """The indexes in FIGURES of the figures that the ascent maximises."""
        aims = AIMS.get((self.corpus.suite, self.corpus.granularity), HEADLINE)
        return tuple(FIGURES.index(aim) for aim in aims)

    @cached_property
    def projects(self) -> list[str]:
        """The project of each question."""
        return [question.project for _, question in self.questions]

    @cached_property
    def counted(self) -> Rows:
        """Return a mask of the questions that weights are fitted to and judged by."""
        return np.array([self.view(one.key, one.type) for _, one in self.questions])

    @cached_property
    def types(self) -> NDArray[np.str_]:
        """The type of each question."""
        return np.array([question.type for _, question in self.questions])

    @cached_property
    def layout(self) -> Layout:
        """The layout of the lessons in arrays."""
        return Layout.of(self)

    def clusters(self, rows: Rows) -> list[str] | None:
        """Return the cluster of each of the questions in `rows`; None if the corpus has no clusters."""
        if not self.corpus.clustered:
            return None
        return [project for project, row in zip(self.projects, rows, strict=True) if row]


@dataclass(frozen=True)
class Layout:
    """The columns of a scope's lessons in an array with a row per question and a column per lesson.

    Columns are in tie order (external id, C order), so that of two equal scores the earlier column wins.
    `valid` (questions, columns): whether a column has a lesson; `gold_rows` and `gold_columns` (gold);
    `places` (questions): the index of each question's project.
    """

    columns: Mapping[str, Mapping[str, int]]  # project -> segment id -> column
    external_ids: Mapping[str, list[str]]  # project → external ids in the order of its columns
    valid: Rows
    gold_rows: Places
    gold_columns: Places
    gold_counts: NDArray[np.int64]
    places: Places

    @classmethod
    def of(cls, task: Task) -> Layout:
        """Return the layout of `task`: the columns of each project's lessons, and each question's gold."""
        members: dict[str, list[Segment]] = {project: [] for project in task.projects}
        for segment in sorted(task.corpus.segments, key=lambda one: one.external_id):
            if segment.project in members:
                members[segment.project].append(segment)
        columns = {
            name: {one.id: column for column, one in enumerate(held)} for name, held in members.items()
        }
        gold = [
            (row, columns[question.project][one])
            for row, (_, question) in enumerate(task.questions)
            for one in question.gold
        ]
        gold_rows, gold_columns = np.array(gold, dtype=np.intp).T
        sizes = np.array([len(members[project]) for project in task.projects])
        order = list(members)
        return cls(
            columns, {name: [one.external_id for one in held] for name, held in members.items()},
            np.arange(sizes.max()) < sizes[:, None], gold_rows, gold_columns,
            np.array([len(question.gold) for _, question in task.questions], dtype=np.int64),
            np.array([order.index(project) for project in task.projects], dtype=np.intp),
        )  # fmt: skip

    def blocks(self) -> Iterator[tuple[slice, Layout]]:
        """Yield the layout for a few questions at a time.

        Its arrays fit a processor's cache, which doubles the speed.
        """
        for start in range(0, self.shape[0], BLOCK):
            rows = slice(start, min(start + BLOCK, self.shape[0]))
            inside = (self.gold_rows >= rows.start) & (self.gold_rows < rows.stop)
            yield rows, replace(
                self, valid=self.valid[rows], gold_rows=self.gold_rows[inside] - rows.start,
                gold_columns=self.gold_columns[inside], gold_counts=self.gold_counts[rows],
                places=self.places[rows],
            )  # fmt: skip

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of questions and columns."""
        return self.valid.shape[0], self.valid.shape[1]

    def gold_ranks(self, scores: Floats) -> NDArray[np.int64]:
        """Return the rank from 1 of each gold lesson, (gold): 1 plus the higher scores, and equal scores
        before it.
        """
        rivals = scores[self.gold_rows]
        own = scores[self.gold_rows, self.gold_columns][:, None]
        before = np.arange(scores.shape[1]) < self.gold_columns[:, None]
        return np.asarray(1 + (rivals > own).sum(axis=1) + ((rivals == own) & before).sum(axis=1))

    def figures(self, scores: Floats, names: Sequence[str] = FIGURES) -> Floats:
        """Return the named figures of each question, (questions, figures).

        A score of -inf means not answered.
        """
        ranks = self.gold_ranks(scores)
        ranks[np.isneginf(scores[self.gold_rows, self.gold_columns])] = NOWHERE
        table = np.full((self.shape[0], int(self.gold_counts.max())), NOWHERE)
        within = np.arange(len(ranks)) - np.searchsorted(self.gold_rows, self.gold_rows)
        table[self.gold_rows, within] = ranks
        table.sort(axis=1)
        found = GoldRanks(table, self.gold_counts)
        return np.column_stack([metric.formula(found) for metric in _metrics(tuple(names))])


@cache
def _metrics(names: tuple[str, ...]) -> list[Metric]:
    known = metrics_for(current())
    return [known[name] for name in names]


def load_tasks(
    suite: str, data: Path | None, environ: Mapping[str, str], *, template: str = FULL, level: str = ""
) -> Iterator[Task]:
    """Yield one task for each granularity of `suite`, or only for `level`.

    Raises CorpusError as a run does, and UsageError for suites that are never tuned on and for held-back
    items.
    """
    parts = SUITES[suite]
    if suite in NEVER_TUNED:
        raise UsageError(f"{suite} is never tuned on, so that its figures count; leave it out")
    if level and level not in parts.levels:
        raise UsageError(f"{suite} has no granularity {level!r}; choose one of: {', '.join(parts.levels)}")
    path = _development(suite, parts.locate(data, environ))
    if suite in HELD_OUT and path.name.startswith(current().suite(suite).file):
        raise _kept(suite, str(path))  # unread
    for one in (level,) if level else LEVELS.get(suite, parts.levels):
        corpus = parts.load(path, one, template)
        if suite in HELD_OUT and corpus.sha256 == current().suite(suite).sha256:
            raise _kept(suite, corpus.path)  # the same file under another name
        questions = tuple((at, one) for at, one in enumerate(corpus.questions) if one.scored and one.gold)
        if not questions:
            raise UsageError(f"no question of {corpus.path} has evidence, so nothing can be tuned by it")
        yield Task(corpus, questions, _view(suite))


def _view(suite: str) -> View:
    """Return the view of the suite's headline."""
    pins = current().suites.get(suite)
    views = {view.name: view for view in SUITES[suite].views(current())}
    return views[pins.headline_view if pins else "all"]


def _development(suite: str, path: Path) -> Path:
    """Return the development file next to a file with held-back items, if there is one.

    Else the file itself.
    """
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


def told(names: Sequence[str], interval: Interval) -> Json:
    """Return each figure's value and the ends of its 95 % interval, by name."""
    ends = zip(names, interval.value, interval.low, interval.high, strict=True)
    return {name: [number(one) for one in numbers] for name, *numbers in ends}


def number(value: float) -> float:
    """Return a value rounded to DIGITS significant digits, as the documents hold it."""
    return significant(float(value), DIGITS)
