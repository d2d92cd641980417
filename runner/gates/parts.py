"""A corpus that is a folder of files, held against the list of the edition, file by file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.editions import registered_files
from runner.gates.facts import Facts

SHOWN = 5


def part_words(facts: Facts) -> str:
    """`3 of the 10 files of REALTALK (ten chats)`; empty for the whole, and for a corpus of one file."""
    pinned, pins = registered_files(facts.edition, facts.corpus.suite), facts.pins
    if not pinned or pins is None or facts.registered:
        return ""
    known = sum(pinned.get(name) == digest for name, digest in facts.corpus.files.items())
    return f"{format(known, ',') if known else 'none'} of the {len(pinned):,} files of {pins.what}"


def file_words(facts: Facts) -> str:
    """How many files are there as registered, and one clause for each kind of fault, with the names."""
    found, pinned = facts.corpus.files, registered_files(facts.edition, facts.corpus.suite)
    faults = [f"{words}: {_shown(names)}" for words, names in _faults(found, pinned) if names]
    each = "" if part_words(facts).startswith("none") else ", each as registered"
    return "; ".join([f"{part_words(facts)}{each}", *faults])


def changed_words(facts: Facts) -> str:
    """The files that are there under a registered name with other bytes; empty where there is none."""
    pinned = registered_files(facts.edition, facts.corpus.suite)
    return _shown(dict(_faults(facts.corpus.files, pinned))["changed"])


def _faults(found: Mapping[str, str], pinned: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    names = {digest: name for name, digest in pinned.items()}
    strange = {name: digest for name, digest in found.items() if name not in pinned}
    yield "changed", [name for name, digest in found.items() if pinned.get(name, digest) != digest]
    yield "doubled", [f"{name} (which is {names[d]})" for name, d in strange.items() if d in names]
    yield "foreign (a name that no registered file has)", [n for n, d in strange.items() if d not in names]
    yield "missing", [name for name in pinned if name not in found]


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
