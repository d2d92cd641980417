"""Gates of the corpus: registered hash, complete, required granularity, evidence that resolves. (§2, §5)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from runner.protocol.editions import registered_files
from runner.protocol.gates.gate import Gate, GateFinding, RunFacts
from runner.records import Corpus, Question, Status

FLAG = "--allow-unregistered-corpus"
RESOLVED = "100 % of the evidence ids and of the questions that cite evidence resolve to a lesson"
SHOWN = 5


def dataset(facts: RunFacts) -> GateFinding:
    """PASSED for the pinned sha256; otherwise UNVERIFIED with the flag, FAILED without."""
    found = f"sha256 {facts.corpus.sha256}, {_name(facts)}"
    if facts.registered:
        return GateFinding(Status.PASSED, _expected(facts), found, facts.corpus.path)
    if facts.run.choice.allow_unregistered_corpus:
        return GateFinding(Status.UNVERIFIED, _expected(facts), found, facts.corpus.path, _get(facts))
    what = "these files" if facts.corpus.files else "this file"
    resolve = f"{_get(facts)}; or run {what} with {FLAG}: the result is then unverified and not citable"
    return GateFinding(Status.FAILED, _expected(facts), found, facts.corpus.path, resolve)


def _expected(facts: RunFacts) -> str:
    pins = facts.pins
    if pins is None or pins.sha256 is None:
        return f"a corpus that the protocol registers; it registers none for the suite {facts.corpus.suite}"
    return f"sha256 {pins.sha256}, which is {pins.what}"


def _name(facts: RunFacts) -> str:
    if _part_words(facts):
        return f"which is {_file_words(facts)}"
    what = facts.edition.known_files.get(facts.corpus.sha256)
    return f"which is {what}" if what else "which is no file that the protocol knows"


def _get(facts: RunFacts) -> str:
    pins = facts.pins
    if pins is None or pins.sha256 is None:
        return "use a suite with a registered corpus"
    if pins.url is None:
        return f"restore {pins.file} from the repository"
    what = f"all files of {pins.file}" if facts.corpus.files else pins.file
    return f"get {what} with `python -m runner fetch {facts.corpus.suite}` or name it with --data"


def shape(facts: RunFacts) -> GateFinding:
    """PASSED when all counts agree; otherwise UNVERIFIED for a file let through by the flag, else FAILED."""
    expected = _counts(facts)
    if not expected:
        return GateFinding(Status.UNVERIFIED, "counts that the protocol registers", "none are registered")
    counts = count(facts.corpus)
    wrong = {
        name: (number, counts.get(name, 0)) for name, number in expected.items() if counts.get(name) != number
    }
    wanted = ", ".join(f"{number:,} {name}" for name, number in expected.items())
    if not wrong:
        return GateFinding(Status.PASSED, wanted, "exactly these counts", facts.corpus.path)
    found = "; ".join(f"{got:,} {name} instead of {number:,}" for name, (number, got) in wrong.items())
    if part := _part_words(facts):
        found = f"{part}: {found}"
    status = Status.UNVERIFIED if facts.let_through else Status.FAILED
    return GateFinding(status, wanted, found, facts.corpus.path, _mend(facts, wrong))


def count(corpus: Corpus) -> dict[str, int]:
    """Return the counts of the loader, overridden by the counts of the loaded records."""
    shown = {
        "projects": len({segment.project for segment in corpus.heads}),
        "segments": len(corpus.segments),
        "questions": len(corpus.questions),
        "scored": sum(question.scored for question in corpus.questions),
    }
    return {**corpus.shape, **shown, **Counter(question.type for question in corpus.questions)}


def _counts(facts: RunFacts) -> dict[str, int]:
    """Return the registered counts; at turn level every turn is a segment."""
    registered = dict(facts.pins.shape) if facts.pins else {}
    if facts.corpus.granularity == "turn" and "turns" in registered:
        registered["segments"] = registered["turns"]
    return registered


def _mend(facts: RunFacts, wrong: dict[str, tuple[int, int]]) -> str:
    turns = facts.pins.shape.get("turns") if facts.pins else None
    if turns is not None and wrong.get("segments", (0, 0))[1] == turns:
        return "the corpus was cut into turns: cut it into sessions (§2.2.1)"
    if facts.registered:
        return "the file is right, so its loader is not: look for questions or sessions that it drops"
    return "use the registered corpus, whole"


def granularity(facts: RunFacts) -> GateFinding:
    """DEVIATION for another granularity than the edition's: it is for comparison and never canonical."""
    wanted = facts.pins.granularity if facts.pins else facts.corpus.granularity
    expected = f"one lesson for each {wanted}"
    found = f"{facts.corpus.granularity} level, {len(facts.corpus.segments):,} lessons"
    if facts.canonical_granularity:
        return GateFinding(Status.PASSED, expected, found)
    return GateFinding(
        Status.DEVIATION, expected, f"{found}: non-canonical", resolve=f"use --granularity {wanted}"
    )


def coverage(facts: RunFacts) -> GateFinding:
    """Counted per id and per question. A gap fails, unless the granularity or the file already deviates."""
    scored = [question for question in facts.corpus.questions if question.scored]
    ids = [evidence for question in scored for evidence in question.evidence]
    lost = [f"{question.key} cites {one}" for question in scored for one in _lost(question)]
    missed = sum(not question.gold for question in scored)
    resolved, answerable = len(ids) - len(lost), len(scored) - missed
    found = f"{resolved:,} of {len(ids):,} ids and {answerable:,} of {len(scored):,} questions"
    if scored and not lost:
        return GateFinding(Status.PASSED, RESOLVED, found, facts.corpus.path)
    return GateFinding(
        _status(facts, missed == len(scored)), RESOLVED, found, _shown(lost, "; "), _resolve(facts)
    )


def _lost(question: Question) -> list[str]:
    return [evidence.cited for evidence in question.evidence if evidence.segment is None]


def _status(facts: RunFacts, nothing: bool) -> Status:
    if nothing:
        return Status.FAILED
    if not facts.canonical_granularity:
        return Status.DEVIATION
    return Status.UNVERIFIED if facts.let_through else Status.FAILED


def _resolve(facts: RunFacts) -> str:
    if not facts.canonical_granularity:
        return "none: the corpus cites what it does not hold at this granularity"
    if changed := _changed_words(facts):
        return (
            f"get the files that were changed ({changed}) with `python -m runner fetch {facts.corpus.suite}`"
        )
    return "read every id in every evidence string and match it without its turn (§2.2.2)"


def _part_words(facts: RunFacts) -> str:
    """Return `3 of the 10 files of REALTALK (ten chats)`; empty for the whole corpus or a single file."""
    pinned, pins = registered_files(facts.edition, facts.corpus.suite), facts.pins
    if not pinned or pins is None or facts.registered:
        return ""
    known = sum(pinned.get(name) == digest for name, digest in facts.corpus.files.items())
    return f"{format(known, ',') if known else 'none'} of the {len(pinned):,} files of {pins.what}"


def _file_words(facts: RunFacts) -> str:
    """Return how many files are as registered, then one clause for each kind of fault, with the file
    names.
    """
    found, pinned = facts.corpus.files, registered_files(facts.edition, facts.corpus.suite)
    faults = [f"{words}: {_shown(names)}" for words, names in _faults(found, pinned) if names]
    each = "" if _part_words(facts).startswith("none") else ", each as registered"
    return "; ".join([f"{_part_words(facts)}{each}", *faults])


def _changed_words(facts: RunFacts) -> str:
    """Return the registered files that have other bytes; empty if there are none."""
    pinned = registered_files(facts.edition, facts.corpus.suite)
    return _shown(dict(_faults(facts.corpus.files, pinned))["changed"])


def _faults(found: Mapping[str, str], pinned: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    names = {digest: name for name, digest in pinned.items()}
    strange = {name: digest for name, digest in found.items() if name not in pinned}
    yield "changed", [name for name, digest in found.items() if pinned.get(name, digest) != digest]
    yield "doubled", [f"{name} (which is {names[d]})" for name, d in strange.items() if d in names]
    yield "foreign (a name that no registered file has)", [n for n, d in strange.items() if d not in names]
    yield "missing", [name for name in pinned if name not in found]


def _shown(names: list[str], joint: str = ", ") -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return joint.join(names[:SHOWN]) + more


GATES = (
    Gate("dataset", dataset, of_corpus=True),
    Gate("shape", shape, of_corpus=True),
    Gate("granularity", granularity, of_corpus=True),
    Gate("coverage", coverage, of_corpus=True, needs_text=True),
)
