"""Every kind of field of every file is changed, alone and in several files at once; no change passes.

How far a forger goes, in steps: one file; its manifest as well; every file that follows from it as well.
HISTORY.md, which holds the manifest's hash, is what no step touches: see benchmarks/VERIFYING.md.
"""

from __future__ import annotations

import copy as copying
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

Path = tuple[Any, ...]  # of keys and positions, from the top of a document

FILES = ("manifest.json", "metrics.json", "raw_retrievals.jsonl", "report.md", "run.json", "timings.jsonl")
DOCUMENTS = tuple(name for name in FILES if name != "report.md")


def leaves(node: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every value that holds no other; an empty list or object is one."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    empty = True
    for key, child in children:
        empty = False
        yield from leaves(child, (*path, key))
    if empty:
        yield path


def kinds(document: Any) -> list[Path]:
    """One leaf of every kind, from the middle of its kind: positions in lists do not make a kind."""
    found: dict[Path, list[Path]] = {}
    for path in leaves(document):
        kind = tuple("*" if isinstance(step, int) else step for step in path)
        found.setdefault(kind, []).append(path)
    return [paths[len(paths) // 2] for paths in found.values()]


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def replaced(document: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    new = copying.deepcopy(document)
    at(new, path[:-1])[path[-1]] = value
    return new


def removed(document: Any, path: Path) -> Any:
    new = copying.deepcopy(document)
    del at(new, path[:-1])[path[-1]]
    return new


def other(value: Any) -> Any:
    """Another value of the same kind, as close as it can be."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value + 0.01 if value < 0.5 else value - 0.01
        case str():
            return f"{value[:-1]}{'0' if value[-1:] != '0' else '1'}"
        case None:
            return "x"
        case list():
            return ["x"]
        case _:
            return {"x": 1}


def changed(document: Any) -> Iterator[tuple[str, Any]]:
    """(where, the document after the change) for every kind of field."""
    for path in kinds(document):
        yield "/".join(map(str, path)), replaced(document, path, other(at(document, path)))


def test_every_field_of_every_document_alone(copy: Callable[[], Any]) -> None:
    run = copy()
    for name in DOCUMENTS:
        original = run.read(name)
        for where, document in changed(original):
            run.write(name, document)
            assert not run.verify().intact, f"{name}: {where} changed"
        for path in kinds(original)[::5]:
            run.write(name, removed(original, path))
            assert not run.verify().intact, f"{name}: {path} removed"
        run.write(name, original)
    assert run.verify().intact


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "manifest.json"])
def test_every_field_with_the_manifest_rewritten(copy: Callable[[], Any], name: str) -> None:
    run = copy()
    original, manifest = run.read(name), run.read("manifest.json")
    for what, document in changed(original):
        run.write(name, document)
        run.seal()
        assert "history" in run.faults(), f"{name}: {what}"
    run.write(name, original)
    run.write("manifest.json", manifest)
    assert run.verify().intact


def test_every_field_of_the_header_with_all_that_follows_from_it(copy: Callable[[], Any]) -> None:
    run, forged = copy(), 0
    original = run.read("run.json")
    for what, document in changed(original):
        run.write("run.json", document)
        try:
            run.recompute()
        except Exception:  # the forger's code fails on a field that is gone: he leaves the rest as it is
            pass
        else:
            forged += 1
        run.seal()
        assert not run.verify().intact, what
    assert forged > 50


def test_every_raw_field_with_all_that_follows_from_it(copy: Callable[[], Any]) -> None:
    run = copy()
    original = run.read("raw_retrievals.jsonl")
    for what, lines in changed(original):
        run.write("raw_retrievals.jsonl", lines)
        try:
            run.recompute()
        except Exception:
            continue
        run.seal()
        assert not run.verify().intact, what


def test_lines_of_the_report(copy: Callable[[], Any]) -> None:
    run = copy()
    path = run.path("report.md")
    lines = path.read_text(encoding="utf-8").split("\n")
    for number in range(0, len(lines), 4):
        line = lines[number]
        digit = re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), line, count=1)
        text = [*lines[:number], digit if digit != line else f"{line} ", *lines[number + 1 :]]
        path.write_text("\n".join(text), encoding="utf-8")
        run.seal()
        assert {"history", "report"} <= set(run.faults()), line


@pytest.mark.parametrize("name", [*FILES, "report.html"])
def test_single_bytes(copy: Callable[[], Any], name: str) -> None:
    run, chance = copy(), random.Random(42)
    content = run.path(name).read_bytes()
    for _ in range(12):
        place = chance.randrange(len(content))
        byte = bytes([content[place] ^ chance.randrange(1, 256)])
        run.path(name).write_bytes(content[:place] + byte + content[place + 1 :])
        assert not run.verify().intact, f"{name}, byte {place}"
    for changed in (b"", content[:-1], content + b"\n", b"\xef\xbb\xbf" + content, content + content):
        run.path(name).write_bytes(changed)
        assert not run.verify().intact, name


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone(copy: Callable[[], Any], name: str) -> None:
    run = copy()
    run.path(name).unlink()
    assert not run.verify().intact
    if name != "manifest.json":
        run.seal()
        assert not run.verify().intact


@pytest.mark.parametrize("name", ["BLOCKED.md", "notes.txt", ".hidden"])
def test_a_file_besides(copy: Callable[[], Any], name: str) -> None:
    run = copy()
    run.path(name).write_text("")
    assert "complete" in run.faults()
    run.seal()
    assert not run.verify().intact


def swapped(lines: list[Any]) -> list[Any]:
    return [lines[1], lines[0], *lines[2:]]


@pytest.mark.parametrize("name", ["raw_retrievals.jsonl", "timings.jsonl"])
@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1:],
        lambda lines: lines[:-1],
        lambda lines: [*lines, lines[0]],
        swapped,
        lambda lines: [],
    ],
    ids=["first gone", "last gone", "one twice", "two exchanged", "all gone"],
)
def test_lines(copy: Callable[[], Any], name: str, change: Callable[[list[Any]], list[Any]]) -> None:
    run = copy()
    run.write(name, change(run.read(name)))
    assert not run.verify().intact
    run.seal()
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
def test_an_entry_that_says_something_else(copy: Callable[[], Any], old: str, new: str) -> None:
    run = copy()
    run.edit("HISTORY.md", old, new)
    assert list(run.faults()) == ["history"]


def test_an_entry_that_is_gone_or_stands_twice(copy: Callable[[], Any]) -> None:
    run = copy()
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


def test_a_renamed_folder_is_the_run_of_its_record_and_a_link_is_that_folder(copy: Callable[[], Any]) -> None:
    """A better version by name alone is none: which run it is stands in run.json."""
    run = copy()
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
