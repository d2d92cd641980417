"""A changed byte, line or file is found, and so is a manifest that was rewritten to fit.

What a forger changes in all files at once, HISTORY.md included, is in test_checks.py and forge/.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

LINES = ("raw_retrievals.jsonl", "timings.jsonl")
FILES = ("manifest.json", "metrics.json", "report.md", "run.json", *LINES)


@pytest.mark.parametrize("name", [*FILES, "report.html"])
def test_single_bytes(run: Any, name: str) -> None:
    chance = random.Random(42)
    content = run.path(name).read_bytes()
    for _ in range(3):
        place = chance.randrange(len(content))
        byte = bytes([content[place] ^ chance.randrange(1, 256)])
        run.path(name).write_bytes(content[:place] + byte + content[place + 1 :])
        assert not run.verify().intact, f"{name}, byte {place}"
    for changed in (b"", content[:-1], content + b"\n", b"\xef\xbb\xbf" + content):
        run.path(name).write_bytes(changed)
        assert not run.verify().intact, name


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone(run: Any, name: str) -> None:
    run.path(name).unlink()
    assert not run.verify().intact
    if name != "manifest.json":
        run.seal()
        assert not run.verify().intact


def test_a_file_besides(copy: Callable[[], Any]) -> None:
    for name in ("BLOCKED.md", "notes.txt", ".hidden"):
        run = copy()
        run.path(name).write_text("")
        assert "complete" in run.faults()
        run.seal()
        assert not run.verify().intact


@pytest.mark.parametrize("name", LINES)
def test_lines_that_are_gone_doubled_or_exchanged(run: Any, name: str) -> None:
    """Even where the manifest and HISTORY.md were rewritten."""
    first, second, *rest = run.read(name)
    for lines in ([second, *rest], [first, first, second, *rest], [second, first, *rest], []):
        run.write(name, lines)
        assert not run.verify().intact
        run.seal()
        run.log()
        assert not run.verify().intact


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- verdict: deviation", "- verdict: verified"),
        ("- deviation: embedder: hash", "- deviation: embedder: other"),
        ("- deviation: embedder: hash\n", ""),
        ("- manifest sha256: ", "- manifest sha256: 0"),
        ("## 20", "## 19"),
        ("· sample ·", "· locomo ·"),
    ],
)
def test_an_entry_that_says_something_else(run: Any, old: str, new: str) -> None:
    run.edit("HISTORY.md", old, new)
    assert list(run.faults()) == ["history"]


def test_an_entry_that_is_gone_or_stands_twice(run: Any) -> None:
    path = run.path("HISTORY.md")
    head, entry = path.read_text(encoding="utf-8").split("\n## ")
    bare = entry.replace("- deviation: ", "- what: ")
    path.write_text(head + f"\n## {entry}\n## {bare}")
    assert "has the entry of the run twice" in run.faults()["history"]
    path.write_text(head + f"\n## {entry}\n## {entry.replace('sha256: ', 'sha256: 0')}")
    assert "manifest sha256, entry 2: HISTORY.md says 0" in run.faults()["history"]
    path.write_text(head)
    assert "no entry" in run.faults()["history"]
    path.unlink()
    assert "no HISTORY.md" in run.faults()["history"]


def test_a_renamed_folder_is_the_run_of_its_record_and_a_link_is_that_folder(run: Any) -> None:
    """A better version by name alone is none: which run it is stands in run.json."""
    place, link = run.folder.with_name("v9.9.9_20261122_bge-m3"), run.folder.with_name("latest")
    run.folder.rename(place)
    link.symlink_to(place)
    for folder in (place, link):
        verification = type(run)(folder, run.sql, run.corpus).verify()
        [said] = [one.sentence for one in verification.answers if one.check == "record"]
        assert verification.intact
        assert said.endswith(
            f"as the run {run.folder.name}; its folder is called {place.name}, and is of no run of that name"
        )


def test_json_that_says_one_thing_twice_or_no_number(copy: Callable[[], Any]) -> None:
    for old, new in (('{"question"', '{"question":"x","question"'), ('"seconds":0', '"seconds":NaN,"x":0')):
        run = copy()
        run.edit("timings.jsonl", old, new)
        run.seal()
        run.log()
        assert "schema" in run.faults(), json.dumps(new)
