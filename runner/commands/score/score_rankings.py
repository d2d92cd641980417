"""Scoring of another author's rankings: every scored question counts, and the verdict is *stated* (§5)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pgmnemo.errors import UsageError
from runner.commands.score.rankings import Rankings, read_rankings
from runner.commands.score.validate_rankings import RankingValidator
from runner.protocol.datasets import SUITES, Suite
from runner.protocol.editions import Edition, current
from runner.protocol.metrics import metrics_for
from runner.protocol.metrics.document import figure_row, readings_of
from runner.protocol.metrics.score import arrange
from runner.protocol.metrics.score import score as score_rows
from runner.records import ALL, Corpus, Json, Retrieval, View

SCHEMA = "pgmnemo/stated/1"
VERDICT = "stated"
WORDS = "rankings given by their author; nothing of how they were made was seen here"


@dataclass(frozen=True)
class StatedScores:
    """Rankings of another author, completed: a question without a ranking gets an empty one.

    `missing` counts these by arm and scope, `cut` the rankings that were deeper than the edition keeps,
    `uncited` the ranked questions that cite no evidence, and `unmarked` the ranked questions whose
    evidence is no lesson.
    """

    by: str
    source: Rankings
    corpus: Corpus
    edition: Edition
    views: tuple[View, ...]
    rows: tuple[Retrieval, ...]
    missing: Mapping[tuple[str, str], int]
    cut: int
    uncited: int
    unmarked: int

    @property
    def registered(self) -> str:
        """Return the protocol's description of the corpus if it is registered; else empty."""
        pins = self.edition.suites.get(self.corpus.suite)
        return pins.what if pins is not None and pins.sha256 == self.corpus.sha256 else ""

    @property
    def title(self) -> str:
        """The title of the corpus."""
        return self.corpus.title or SUITES[self.corpus.suite].title

    @property
    def scored(self) -> int:
        """The number of questions with gold, over which every figure is computed."""
        return sum(bool(question.gold) for question in self.corpus.questions)

    @property
    def headline_view(self) -> str:
        """The view of the suite's headline."""
        pins = self.edition.suites.get(self.corpus.suite)
        return pins.headline_view if pins else ALL

    @cached_property
    def document(self) -> Json:
        """The scores as a JSON document, for `score --json`; its figures are as in metrics.json."""
        edition, corpus = self.edition, self.corpus
        views = {view.name: view for view in self.views}
        scores = score_rows(self.rows, edition, views=views, clustered=corpus.clustered)
        return {
            "schema": SCHEMA,
            "verdict": VERDICT,
            "words": WORDS,
            "by": self.by or None,
            "protocol_version": edition.version,
            "protocol_sha256": edition.sha256,
            "rankings": {
                "file": self.source.file, "sha256": self.source.sha256, "form": self.source.form,
                "rankings": len(self.source.rankings), "cut": self.cut, "uncited": self.uncited,
            },
            "corpus": {
                "suite": corpus.suite, "title": self.title, "granularity": corpus.granularity,
                "file": Path(corpus.path).name, "sha256": corpus.sha256, "registered": bool(self.registered),
                "segments": len(corpus.segments), "questions": len(corpus.questions),
                "scored": self.scored, "clustered": corpus.clustered,
            },
            "missing": [
                {"arm": arm, "scope": scope, "questions": number}
                for (arm, scope), number in self.missing.items()
            ],
            "headline": list(edition.metrics.headline),
            "headline_view": self.headline_view,
            "metric_code": edition.metrics.code,
            "definitions": {name: metric.definition for name, metric in metrics_for(edition).items()},
            "intervals": scores.methods,
            "results": [figure_row(result) for result in scores.results],
            "differences": [figure_row(difference) for difference in scores.differences],
            "readings": list(self._readings()),
        }  # fmt: skip

    def _readings(self) -> Iterator[Json]:
        """Yield the figures under other projects' counting rules (§4.9), in the suite's first scope."""
        pins, corpus = self.edition.suites.get(self.corpus.suite), self.corpus
        tables = [table for table in arrange(self.rows) if table.scope == corpus.scopes[0].name]
        for table in tables if pins else ():
            cited = sum(question.scored for question in corpus.questions)
            uncited, unmarked = len(corpus.questions) - cited, cited - self.scored
            readings = pins.readings if pins else ()
            yield from readings_of(table, list(table.arms), readings, corpus.granularity, uncited, unmarked)


def load(parts: Suite, place: Path, granularity: str | None, split: str) -> Corpus:
    """Return the corpus at `place`, read under the current edition.

    Raises UsageError if a split is named and the suite is not the user's own data.
    """
    if split and not parts.own:
        raise UsageError(
            f"--split names the judgements of a folder of BEIR, and {parts.name} is no such suite"
        )
    return parts.load(place, granularity, edition=current(), split=split)


def score(
    rankings: Path | str,
    suite: str,
    *,
    granularity: str | None = None,
    data: Path | str | None = None,
    scope: str | None = None,
    name: str = "",
    split: str = "",
) -> StatedScores:
    """Score the rankings in a file against a suite's corpus, under the edition in force.

    `scope` says where the questions were searched, for a file that does not say it (None: the suite's
    first scope), or which of a raw file's scopes to score. `name` names the author of the rankings,
    `split` the judgements of a BEIR folder that count. Raises UsageError, CorpusError, or RankingsError
    with the line that is wrong.
    """
    edition, parts = current(), SUITES[suite]
    place = parts.locate(None if data is None else Path(data), os.environ)
    corpus = load(parts, place, granularity, split)
    if scope is not None and scope not in (known := [one.name for one in corpus.scopes]):
        raise UsageError(f"{suite} has no scope {scope!r}; choose one of: {', '.join(known)}")
    source = read_rankings(Path(rankings))
    holding = RankingValidator(corpus, edition.retrieval.depth, scope)
    return StatedScores(
        by=name,
        source=source,
        corpus=corpus,
        edition=edition,
        views=parts.views(edition),
        rows=holding.rows(source),
        missing=holding.missing,
        cut=holding.cut,
        uncited=sum(not question.scored for question in holding.left_out),
        unmarked=sum(question.scored for question in holding.left_out),
    )
