"""Are the rankings those of the systems? Some questions are recalled again, and held against the raw file."""

from __future__ import annotations

from runner.errors import RunnerError
from runner.rewriters import by_rule
from runner.runs.reruns import USUAL
from runner.verify.check import NotAsked
from runner.verify.evidence import Evidence
from runner.verify.sameness import SWAY

SERVICES = ("endpoint",)  # embedders that are somebody's service: its address stands in no run


def rerun(evidence: Evidence) -> str:
    """The drawn questions have the ids and scores again that the raw file gives them, in every arm."""
    run = evidence.run
    if not evidence.rerun:
        raise NotAsked(f"give --rerun, or --rerun N for other than {USUAL} questions")
    if run.choice.embedder in SERVICES:
        raise NotAsked(
            f"the vectors are of a service ({run.choice.embedder}), whose address no run records: nothing "
            "here can prove them"
        )
    if run.rewriter is not None and by_rule(run.rewriter) is None:
        raise NotAsked(f"the questions were asked in the words of {run.choice.rewrite}, which no run records")
    try:
        made = evidence.remade
    except RunnerError as error:
        raise NotAsked(f"could not be recalled again here: {error}") from None
    assert made is not None, "asked for, above"
    if run.system in made.left:
        raise NotAsked(f"{run.system} is not held: {made.left[run.system]}")
    scopes = ", ".join(scope.name for scope in run.scopes)
    others = ", ".join(f"{name} ({why})" for name, why in made.left.items())
    return "; ".join((
        f"{made.questions:,} questions, recalled again in {scopes} by {len(made.arms)} of "
        f"{len(made.arms) + len(made.left)} arms: the same ids and scores, to {SWAY:g} of the best",
        *([f"{made.ties:,} of {made.answers:,} answers differ as near ties do"] if made.ties else []),
        *([f"not held: {others}"] if others else []),
    ))  # fmt: skip
