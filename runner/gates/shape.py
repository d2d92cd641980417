"""Does the loaded corpus have every count that the protocol registers? (§2, Appendix A)"""

from __future__ import annotations

from collections import Counter

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.gates.parts import part_words
from runner.records import Corpus, Status


def shape(facts: Facts) -> Finding:
    """PASSED when all counts agree; otherwise UNVERIFIED for a file let through by the flag, else FAILED."""
    expected = _expected(facts)
    if not expected:
        return Finding(Status.UNVERIFIED, "counts that the protocol registers", "none are registered")
    counts = count(facts.corpus)
    wrong = {
        name: (number, counts.get(name, 0)) for name, number in expected.items() if counts.get(name) != number
    }
    wanted = ", ".join(f"{number:,} {name}" for name, number in expected.items())
    if not wrong:
        return Finding(Status.PASSED, wanted, "exactly these counts", facts.corpus.path)
    found = "; ".join(f"{got:,} {name} instead of {number:,}" for name, (number, got) in wrong.items())
    if part := part_words(facts):
        found = f"{part}: {found}"
    status = Status.UNVERIFIED if facts.let_through else Status.FAILED
    return Finding(status, wanted, found, facts.corpus.path, _resolve(facts, wrong))


def count(corpus: Corpus) -> dict[str, int]:
    """The counts that the loader states, those that the records show put over them."""
    shown = {
        "projects": len({segment.project for segment in corpus.heads}),
        "segments": len(corpus.segments),
        "questions": len(corpus.questions),
        "scored": sum(question.scored for question in corpus.questions),
    }
    return {**corpus.shape, **shown, **Counter(question.type for question in corpus.questions)}


def _expected(facts: Facts) -> dict[str, int]:
    """The registered counts; at turn level every turn is a segment."""
    registered = dict(facts.pins.shape) if facts.pins else {}
    if facts.corpus.granularity == "turn" and "turns" in registered:
        registered["segments"] = registered["turns"]
    return registered


def _resolve(facts: Facts, wrong: dict[str, tuple[int, int]]) -> str:
    turns = facts.pins.shape.get("turns") if facts.pins else None
    if turns is not None and wrong.get("segments", (0, 0))[1] == turns:
        return "the corpus was cut into turns: cut it into sessions (§2.2.1)"
    if facts.registered:
        return "the file is right, so its loader is not: look for questions or sessions that it drops"
    return "use the registered corpus, whole"


GATE = Gate("shape", shape, of_corpus=True)
