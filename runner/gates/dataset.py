"""Is the corpus the registered file, byte for byte? (§2, §5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.gates.parts import file_words, part_words
from runner.records import Status

FLAG = "--allow-unregistered-corpus"


def dataset(facts: Facts) -> Finding:
    """PASSED for the pinned sha256; otherwise UNVERIFIED with the flag, FAILED without."""
    found = f"sha256 {facts.corpus.sha256}, {_name(facts)}"
    if facts.registered:
        return Finding(Status.PASSED, _expected(facts), found, facts.corpus.path)
    if facts.run.choice.allow_unregistered_corpus:
        return Finding(Status.UNVERIFIED, _expected(facts), found, facts.corpus.path, _get(facts))
    what = "these files" if facts.corpus.files else "this file"
    resolve = f"{_get(facts)}; or run {what} with {FLAG}: the result is then unverified and not citable"
    return Finding(Status.FAILED, _expected(facts), found, facts.corpus.path, resolve)


def _expected(facts: Facts) -> str:
    pins = facts.pins
    if pins is None or pins.sha256 is None:
        return f"a corpus that the protocol registers; it registers none for the suite {facts.corpus.suite}"
    return f"sha256 {pins.sha256}, which is {pins.what}"


def _name(facts: Facts) -> str:
    if part_words(facts):
        return f"which is {file_words(facts)}"
    what = facts.edition.known_files.get(facts.corpus.sha256)
    return f"which is {what}" if what else "which is no file that the protocol knows"


def _get(facts: Facts) -> str:
    pins = facts.pins
    if pins is None or pins.sha256 is None:
        return "use a suite with a registered corpus"
    if pins.url is None:
        return f"restore {pins.file} from the repository"
    what = f"all files of {pins.file}" if facts.corpus.files else pins.file
    return f"get {what} with `python -m runner fetch {facts.corpus.suite}` or name it with --data"


GATE = Gate("dataset", dataset, of_corpus=True)
