"""Do the sums of a rewriter follow from what it did to each question, and are these those asked? (§4.14)"""

from __future__ import annotations

from runner.runs.rewrites import REWRITES, asked_sha256, counts
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence


def rewrites(evidence: Evidence) -> str:
    """Every question that was asked has its line; calls, failures and changed words are summed up anew."""
    run = evidence.run
    named = run.rewriter.name if run.rewriter else ""
    if run.choice.rewrite != named:
        raise Wrong(
            f"run.json chose the rewriter {run.choice.rewrite or 'none'} and records {named or 'none'}"
        )
    if run.rewriter is None:
        raise NotAsked("the run had no rewriter")
    types = {line["question"]: line["type"] for line in evidence.raw}
    if [one.question for one in evidence.rewrites] != list(types):
        raise Wrong(f"{REWRITES} is not of the questions of the raw rankings, each once and in their order")
    if run.rewrites != counts(evidence.rewrites, types):
        raise Wrong(f"the rewrites of run.json are not what {REWRITES} gives")
    _compared(evidence)
    return f"calls, failures and changed words follow from {len(types):,} questions"


def _compared(evidence: Evidence) -> None:
    """With the corpus at hand: a line says rightly whether the words are the question's own."""
    if evidence.corpus is None:
        return
    own = {question.key: asked_sha256(question.text) for question in evidence.corpus.questions}
    for one in evidence.rewrites:
        if one.changed == (one.asked_sha256 == own.get(one.question)) or (one.changed and one.failed):
            raise Wrong(f"{REWRITES}, {one.question}: whether its words were changed is not as the line says")
