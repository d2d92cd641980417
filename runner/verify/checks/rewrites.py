"""Do the sums of a rewriter follow from what it did to each question, and are these those asked? (§4.14)"""

from __future__ import annotations

from runner.rewriters import by_rule
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
    return f"calls, failures and changed words follow from {len(types):,} questions{_compared(evidence)}"


def _compared(evidence: Evidence) -> str:
    """With the corpus: whether a line says rightly that words were changed, and of a rule what it gives."""
    own, identity = evidence.corpus, evidence.run.rewriter
    if own is None or identity is None:
        return ""
    rule = by_rule(identity)
    if rule is not None and rule.identity != identity:
        raise Wrong(
            f"the rewriter {identity.name} of run.json is {identity.revision}, here {rule.identity.revision}"
        )
    texts = {question.key: question.text for question in own.questions}
    for one in evidence.rewrites:
        text = texts[one.question]
        if one.changed == (one.asked_sha256 == asked_sha256(text)) or (one.changed and one.failed):
            raise Wrong(f"{REWRITES}, {one.question}: whether its words were changed is not as the line says")
        if rule is not None and asked_sha256(rule.rewrite(text).text) != one.asked_sha256:
            raise Wrong(f"{REWRITES}, {one.question}: {identity.name} gives other words than were asked")
    return "; the rewriter gives the words that were asked" if rule else ""
