"""Entries are appended in one form and found again; what stands in the file stays byte for byte."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from pgmnemo.errors import OutputError, UsageError
from runner.records import Verdict
from runner.runs.history import (
    HEADER,
    append_entry,
    can_append,
    entries,
    entries_of_run,
    entry_text,
    history_of,
    logged_manifests,
    withdrawal,
)

DAY = date(2026, 5, 9)
FOLDER = "benchmarks/locomo/results/v0.2.1_20260509_minilm"
MANIFEST = "9f" * 32
ENTRY = entry_text(DAY, "locomo", FOLDER, Verdict.DEVIATION, MANIFEST, ["embedder: minilm", "tree:\n  dirty"])


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "HISTORY.md"


def test_an_entry_has_one_field_a_line() -> None:
    assert ENTRY.splitlines(keepends=True) == [
        "## 2026-05-09 · locomo · v0.2.1_20260509_minilm\n", "\n", f"- results: {FOLDER}\n",
        "- verdict: deviation\n", f"- manifest sha256: {MANIFEST}\n", "- deviation: embedder: minilm\n",
        "- deviation: tree: dirty\n",
    ]  # fmt: skip


@pytest.mark.parametrize("verdict", [Verdict.DEVIATION, Verdict.UNVERIFIED])
def test_a_departing_run_names_its_departure(verdict: Verdict) -> None:
    with pytest.raises(UsageError, match="name it"):
        entry_text(DAY, "locomo", FOLDER, verdict, MANIFEST)


@pytest.mark.parametrize("digest", ["", "9F" * 32])
def test_a_manifest_hash_that_is_none_is_refused(digest: str) -> None:
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        entry_text(DAY, "locomo", FOLDER, Verdict.VERIFIED, digest)


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_what_stands_there_stays_and_a_blank_line_parts_the_entries(history: Path, end: str) -> None:
    before = f"{HEADER}\n## an older entry{end}"
    history.write_text(before)
    append_entry(history, ENTRY)
    after = history.read_text()
    assert after.startswith(before)
    assert after == f"{HEADER}\n## an older entry\n\n{ENTRY}"


@pytest.mark.parametrize("before", ["", "\n", HEADER, f"# Runs of ours\n\n{ENTRY}"])
def test_an_entry_goes_into_a_log_of_runs(history: Path, before: str) -> None:
    history.write_text(before)
    append_entry(history, ENTRY)
    assert history.read_text().startswith(before)


@pytest.mark.parametrize("before", ["# Release history of MyApp\n", "# History\n\n## 1.0.0\n", "\xff"])
def test_an_entry_goes_into_no_other_file(history: Path, before: str) -> None:
    history.write_bytes(before.encode("latin-1"))
    with pytest.raises(UsageError, match="is no log of runs: name another place"):
        append_entry(history, ENTRY)
    assert history.read_bytes() == before.encode("latin-1")


def test_an_entry_is_read_back_field_by_field(history: Path) -> None:
    append_entry(history, ENTRY)
    other = entry_text(DAY, "sample", "results/v0.2.1", Verdict.VERIFIED, "0" * 64)
    append_entry(history, f"{other}\nA remark of a reader's.\n")
    first, second = entries(history)
    assert (first.day, first.suite, first.name) == ("2026-05-09", "locomo", "v0.2.1_20260509_minilm")
    assert first.values("results") == [FOLDER]
    assert first.values("deviation") == ["embedder: minilm", "tree: dirty"]
    assert second.fields == (
        ("results", "results/v0.2.1"), ("verdict", "verified"), ("manifest sha256", "0" * 64),
    )  # fmt: skip


def test_a_history_that_cannot_be_read_is_one_sentence(history: Path) -> None:
    with pytest.raises(OutputError, match=r"HISTORY\.md cannot be read"):
        entries(history)
    history.write_bytes(b"\xff")
    with pytest.raises(OutputError, match=r"HISTORY\.md cannot be read"):
        entries(history)


def test_the_nearest_history_above_is_the_own_of_a_run_outside_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "somewhere" / "runs" / "run"
    folder.mkdir(parents=True)
    (tmp_path / "HISTORY.md").touch()
    assert history_of(folder) == tmp_path / "HISTORY.md"
    beside = folder.parent / "HISTORY.md"
    beside.touch()
    assert history_of(folder) == beside
    (folder / "HISTORY.md").touch()
    assert history_of(folder) == beside


@pytest.mark.parametrize(
    ("before", "after"),
    [("<!--\n", "-->\n"), ("```\n", "```\n"), ("~~~text\n", ""), ("<pre>\n", "</pre>\n"), ("<!-- ", "")],
)
def test_an_entry_that_no_reader_of_the_page_sees_does_not_count(
    history: Path, before: str, after: str
) -> None:
    history.write_text(f"{HEADER}\n{before}{ENTRY}{after}")
    assert entries(history) == []


def test_an_entry_is_of_a_run_in_any_spelling_by_its_folder_and_by_its_manifest(history: Path) -> None:
    name = FOLDER.rsplit("/", 1)[-1]
    spelt = entry_text(DAY, "LoCoMo", f"elsewhere/{name}", Verdict.DEVIATION, "0" * 64, ["spelt"])
    placed = entry_text(DAY, "a", f"my/{FOLDER}/", Verdict.DEVIATION, "1" * 64, ["placed"])
    pinned = entry_text(DAY, "b", "elsewhere/other", Verdict.DEVIATION, MANIFEST, ["pinned"])
    other = entry_text(DAY, "beam", f"benchmarks/beam/results/{name}", Verdict.DEVIATION, "2" * 64, ["other"])
    history.write_text("\n".join([HEADER, ENTRY, spelt, placed, pinned, other]))
    found = entries_of_run(entries(history), "locomo", name, MANIFEST)
    told = [text for one in found for text in one.values("deviation")]
    assert told == ["embedder: minilm", "tree: dirty", "spelt", "placed", "pinned"]


def test_what_would_steer_a_terminal_or_a_page_is_written_out() -> None:
    text = entry_text(DAY, "locomo", FOLDER, Verdict.DEVIATION, MANIFEST, ["a\x1b[2J <script>b\u202e < 3"])
    assert r"- deviation: a\u001b[2J &lt;script>b\u202e < 3" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("text", "taken_back"),
    [("withdrawn: the gold was wrong", True), ("It is RETRACTED", True), ("pool: 50", False),
     ("not withdrawn, but late", False)],
)  # fmt: skip
def test_a_withdrawal_is_told_from_other_deviations(text: str, taken_back: bool) -> None:
    assert (withdrawal([text]) is not None) is taken_back


def test_runs_that_end_at_once_do_not_mix_their_entries(history: Path) -> None:
    texts = [entry_text(DAY, "sample", f"results/{n}", Verdict.VERIFIED, f"{n:064x}") for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda entry: append_entry(history, entry), texts))
    text = history.read_text()
    assert all(f"\n\n{entry}" in text for entry in texts)
    assert len(text) == len(HEADER) + sum(len(entry) + 1 for entry in texts)


def test_a_place_that_cannot_be_written_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot be appended to .*HISTORY\.md"):
        append_entry(tmp_path / "no folder" / "HISTORY.md", ENTRY)


def test_a_disk_that_fills_up_leaves_the_file_as_it_was(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_entry(history, ENTRY)
    before, write = history.read_bytes(), os.write

    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OutputError, match=os.strerror(errno.ENOSPC)):
        append_entry(history, ENTRY)
    assert history.read_bytes() == before


def test_whether_an_entry_can_be_appended_is_told_without_a_trace(tmp_path: Path) -> None:
    assert can_append(tmp_path / "HISTORY.md")
    assert can_append(tmp_path / "a folder that the run makes" / "HISTORY.md")
    assert not can_append(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_manifests_of_a_folder_are_those_of_its_entries(history: Path) -> None:
    later = entry_text(DAY, "locomo", f"{FOLDER}/", Verdict.DEVIATION, "0" * 64, ["clock: late"])
    for entry in (ENTRY, later, ENTRY):
        append_entry(history, entry)
    assert logged_manifests(history, FOLDER) == (MANIFEST, "0" * 64)
    assert logged_manifests(history, FOLDER[:-1]) == ()
    assert logged_manifests(history.with_name("none.md"), FOLDER) == ()
