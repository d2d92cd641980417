"""Validation of rankings against the corpus: its questions, its lessons, its scopes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from runner.commands.score.rankings import Ranking, Rankings
from runner.errors import RankingsError
from runner.protocol.lengths import TextLengths
from runner.protocol.metrics.score import CEILING
from runner.records import Corpus, Question, RankedSegment, Retrieval


class RankingValidator:
    """A converter of rankings into retrievals: one for every scored question of each arm and scope.

    Within a project they have the lengths of their texts; if some lines of the file have lengths, only these.
    """

    def __init__(self, corpus: Corpus, depth: int, scope: str | None) -> None:
        self.corpus, self.depth, self.scope = corpus, depth, scope
        self.scopes = {one.name: one.pooled for one in corpus.scopes}
        self.questions = {question.key: question for question in corpus.questions}
        self.members: dict[str, set[str]] = {}
        for segment in corpus.heads:
            self.members.setdefault(segment.project, set()).add(segment.id)
        self.everything = set().union(*self.members.values())
        self.missing: dict[tuple[str, str], int] = {}
        self.cut, self.left_out = 0, set[Question]()
        self.lengths = TextLengths(corpus)
        self._ids = f"python -m runner score --suite {corpus.suite} --ids DIR"

    def rows(self, source: Rankings) -> tuple[Retrieval, ...]:
        """Return the retrievals in the file's order, then an empty retrieval for each missing ranking."""
        if not any(one.question in self.questions for one in source.rankings):
            raise RankingsError(
                f"{source.file} ranks {source.rankings[0].question!r} and other questions, and none of them "
                f"is of {self.corpus.suite} ({Path(self.corpus.path).name}): it is another suite's, or its "
                "ids are not those that --ids writes"
            )
        some = any("tokens" in one.lengths for one in source.rankings)
        found: dict[tuple[str, str, str], Retrieval] = {}
        for ranking in source.rankings:
            scope = ranking.scope or self.scope or next(iter(self.scopes))
            counts = not some or "tokens" in ranking.lengths
            if self.scope in (None, scope) and (held := self._held(ranking, scope, counts)) is not None:
                if (key := (held.arm, scope, held.question)) in found:
                    raise RankingsError(
                        f"{ranking.where}: {held.arm} ranks question {held.question} twice in {scope}; "
                        "keep one"
                    )
                found[key] = held
        if not found:
            raise RankingsError(f"{source.file} ranks no question that can be scored{self._within()}")
        return (*found.values(), *self._completed(found))

    def _within(self) -> str:
        return f" in scope {self.scope}" if self.scope else ""

    def _held(self, ranking: Ranking, scope: str, counts: bool) -> Retrieval | None:
        """Return the retrieval of a ranking; None if the question has no gold at this granularity.

        None for a question without gold at this level, which no run asks.
        """
        question, where = self.questions.get(ranking.question), ranking.where
        if question is None:
            raise RankingsError(
                f"{where}: {ranking.question!r} is no question of {self.corpus.suite}; `{self._ids}` writes "
                "those that are"
            )
        if scope not in self.scopes:
            raise RankingsError(
                f"{where}: there is no scope {scope!r}; choose one of: {', '.join(self.scopes)}"
            )
        if ranking.arm == CEILING:
            raise RankingsError(
                f"{where}: {CEILING} names what the gold alone decides; name the rankings otherwise"
            )
        self._check_claims(ranking, self._retrieval(question, ranking.arm, scope))
        self._check_ids(ranking, question, scope)
        if not question.gold:
            self.left_out.add(question)
            return None
        self.cut += len(ranking.ids) > self.depth
        hits = tuple(map(RankedSegment, ranking.ids[: self.depth]))
        held = self._retrieval(question, ranking.arm, scope, hits)
        if self.scopes[scope] or not counts:
            return held
        counted = self.lengths.counted(held)
        self._check_lengths(ranking, counted)
        return counted

    def _check_lengths(self, ranking: Ranking, own: Retrieval) -> None:
        """Raise RankingsError for lengths that are not the texts'; a deeper ranking may have more of them."""
        for what, claimed in ranking.lengths.items():
            known = list(getattr(own, what))
            if not isinstance(claimed, list) or claimed[: len(known)] != known:
                raise RankingsError(
                    f"{ranking.where}: the {what} of question {own.question} are given as {claimed!r}, by "
                    f"the texts of the corpus they are {known!r}"
                )

    def _check_claims(self, ranking: Ranking, own: Retrieval) -> None:
        for what, claimed in ranking.claims.items():
            known = list(own.gold) if what == "gold" else getattr(own, what)
            if claimed != known and not (what == "gold" and _as_set(claimed) == set(known)):
                raise RankingsError(
                    f"{ranking.where}: the {what} of question {own.question} is given as {claimed!r}, in the "
                    f"corpus it is {known!r}: these rankings are of another file or granularity"
                )

    def _check_ids(self, ranking: Ranking, question: Question, scope: str) -> None:
        pooled, seen = self.scopes[scope], set[str]()
        members = self.everything if pooled else self.members[question.project]
        for one in ranking.ids:
            if one in seen:
                raise RankingsError(f"{ranking.where}: {one} is ranked twice for question {question.key}")
            seen.add(one)
            if one in members:
                continue
            if one in self.everything:
                pool = next((f"; or name --scope {name}" for name, all_ in self.scopes.items() if all_), "")
                raise RankingsError(
                    f"{ranking.where}: question {question.key} is searched within {question.project} (scope "
                    f"{scope}), and {one} lies outside of it{pool}"
                )
            raise RankingsError(
                f"{ranking.where}: {one!r} is no lesson of {self.corpus.suite} at {self.corpus.granularity} "
                f"level; `{self._ids}` writes those that are"
            )

    def _completed(self, found: Mapping[tuple[str, str, str], Retrieval]) -> Iterator[Retrieval]:
        """Yield an empty retrieval for each scored question that an arm lacks, and count it in `missing`."""
        scored = [question for question in self.corpus.questions if question.gold]
        counted = {(one.arm, one.scope) for one in found.values() if one.gold_tokens}
        for arm, scope in dict.fromkeys((arm, scope) for arm, scope, _ in sorted(found)):
            absent = [question for question in scored if (arm, scope, question.key) not in found]
            if absent:
                self.missing[arm, scope] = len(absent)
            rows = (self._retrieval(question, arm, scope) for question in absent)
            yield from map(self.lengths.counted, rows) if (arm, scope) in counted else rows

    def _retrieval(
        self, question: Question, arm: str, scope: str, hits: tuple[RankedSegment, ...] = ()
    ) -> Retrieval:
        size = len(self.corpus.segments) if self.scopes[scope] else len(self.members[question.project])
        return Retrieval(question.key, question.type, arm, scope, question.project, size, question.gold, hits)


def _as_set(claimed: object) -> object:
    """Return a list of ids as a set, which ignores order and repeats; return any other value as it is."""
    return {str(one) for one in claimed} if isinstance(claimed, list) else claimed
