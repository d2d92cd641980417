"""Is the gold of every raw line the corpus's own?"""

from __future__ import annotations

from runner.claims.verify.check import Wrong
from runner.claims.verify.checks.corpus import given
from runner.claims.verify.evidence import Evidence


def gold(evidence: Evidence) -> str:
    """Compared in every line, so that no arm is judged by another gold."""
    own = {question.key: list(question.gold) for question in given(evidence).questions}
    for line in evidence.raw:
        if line["gold"] != own.get(line["question"]):
            raise Wrong(
                f"{line['arm']}, {line['scope']}, {line['question']}: the gold is {', '.join(line['gold'])}, "
                f"in the corpus {', '.join(own.get(line['question'], ['nothing']))}"
            )
    ids = {(line["question"], one) for line in evidence.raw for one in line["gold"]}
    return f"the gold of every line is the corpus's ({len(ids):,} segments)"
