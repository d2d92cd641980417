"""Retrievals put side by side: one scope, one line for each judged question, whatever each arm answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pgmnemo.errors import UsageError
from runner.protocol.metrics.metric import Found, locate, tabulate
from runner.records import Retrieval

CEILING = "ceiling"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question as every arm must have seen it in one scope."""

    key: str
    type: str
    project: str
    size: int
    gold: frozenset[str]


@dataclass(slots=True)
class ScopeTable:
    """One scope: its questions by key, and for each arm the ranks of the gold by question."""

    scope: str
    questions: dict[str, Judged] = field(default_factory=dict)
    arms: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def add(self, row: Retrieval) -> None:
        """Take in one row. Raises UsageError where it contradicts or repeats an earlier one."""
        judged = Judged(row.question, row.type, row.project, row.size, frozenset(row.gold))
        if self.questions.setdefault(row.question, judged) != judged:
            raise UsageError(
                f"arm {row.arm!r} saw question {row.question!r} in scope {self.scope!r} with another gold, "
                f"type, project or scope size than an arm before it; score rows of one corpus only"
            )
        answers = self.arms.setdefault(row.arm, {})
        if row.question in answers:
            raise UsageError(
                f"arm {row.arm!r} answers question {row.question!r} in scope {self.scope!r} twice; keep one"
            )
        answers[row.question] = locate(judged.gold, [hit.id for hit in row.ranking])

    def judged(self) -> list[Judged]:
        """The questions in order of their keys, so that no figure depends on the order of the rows."""
        return [self.questions[key] for key in sorted(self.questions)]

    def found(self, arm: str) -> Found:
        """Where `arm` placed the gold, in the order of `judged`; a missing retrieval found none."""
        answers = self.arms[arm]
        return tabulate((answers.get(q.key, []), len(q.gold)) for q in self.judged())

    def ceiling(self) -> Found:
        """The best that any ranking can do: all gold first, as far as the scope reaches."""
        return tabulate((range(1, min(len(q.gold), q.size) + 1), len(q.gold)) for q in self.judged())


def arrange(rows: Iterable[Retrieval]) -> list[ScopeTable]:
    """One table for each scope, scopes and arms in the order in which they first appear.

    Raises UsageError for no row at all, a question without gold, a repeated or contradicting row, and an
    arm that calls itself the ceiling.
    """
    tables: dict[str, ScopeTable] = {}
    for row in rows:
        if not row.gold:
            raise UsageError(f"question {row.question!r} has no gold, so it cannot be scored; leave it out")
        if row.arm == CEILING:
            raise UsageError(f"an arm is named {CEILING!r}, which the gold alone decides; rename it")
        tables.setdefault(row.scope, ScopeTable(row.scope)).add(row)
    if not tables:
        raise UsageError("there is no retrieval to score; run at least one question with gold")
    return list(tables.values())
