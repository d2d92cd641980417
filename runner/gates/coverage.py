"""Does every evidence id, and so every scored question, resolve to a lesson? (§2.2.2, §5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.gates.parts import changed_words
from runner.records import Question, Status

EXPECTED = "100 % of the evidence ids and of the questions that cite evidence resolve to a lesson"
SHOWN = 5


def coverage(facts: Facts) -> Finding:
    """Counted per id and per question. A gap fails, unless the granularity or the file already deviates."""
    scored = [question for question in facts.corpus.questions if question.scored]
    ids = [evidence for question in scored for evidence in question.evidence]
    lost = [f"{question.key} cites {one}" for question in scored for one in _lost(question)]
    missed = sum(not question.gold for question in scored)
    resolved, answerable = len(ids) - len(lost), len(scored) - missed
    found = f"{resolved:,} of {len(ids):,} ids and {answerable:,} of {len(scored):,} questions"
    if scored and not lost:
        return Finding(Status.PASSED, EXPECTED, found, facts.corpus.path)
    return Finding(_status(facts, missed == len(scored)), EXPECTED, found, _where(lost), _resolve(facts))


def _lost(question: Question) -> list[str]:
    return [evidence.cited for evidence in question.evidence if evidence.segment is None]


def _status(facts: Facts, nothing: bool) -> Status:
    if nothing:
        return Status.FAILED
    if not facts.canonical_granularity:
        return Status.DEVIATION
    return Status.UNVERIFIED if facts.let_through else Status.FAILED


def _where(lost: list[str]) -> str:
    more = f" and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
    return "; ".join(lost[:SHOWN]) + more


def _resolve(facts: Facts) -> str:
    if not facts.canonical_granularity:
        return "none: the corpus cites what it does not hold at this granularity"
    if changed := changed_words(facts):
        return (
            f"get the files that were changed ({changed}) with `python -m runner fetch {facts.corpus.suite}`"
        )
    return "read every id in every evidence string and match it without its turn (§2.2.2)"


GATE = Gate("coverage", coverage, of_corpus=True, needs_text=True)
