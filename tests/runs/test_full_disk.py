"""A full disk ends in one sentence, and what was written before is kept and can be gone on with."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from runner.errors import OutputError
from runner.records import Hit, Retrieval
from runner.runs.folder import RunFolder
from runner.runs.raw import RAW, RawWriter
from runner.runs.storage import LineWriter, write_file


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB; needs the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    _mount(place, "size=64k")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def _mount(place: Path, options: str) -> None:
    try:
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system needs root")


def test_a_read_only_disk_is_one_sentence(small_disk: Path) -> None:
    _mount(small_disk, "remount,ro")
    with pytest.raises(OutputError, match=r"cannot be written \(Read-only file system\).*--output"):
        RunFolder.start(small_disk / "results", "run")


def _retrieval(number: int) -> Retrieval:
    ranking = tuple(Hit(f"c1/D{place}") for place in range(50))
    return Retrieval(f"c1/q{number}", "temporal", "random", "pool", "c1", 50, ("c1/D1",), ranking)


def _fill(folder: Path) -> int:
    numbers = count()
    with (
        RawWriter(folder / RAW) as writer,
        pytest.raises(OutputError, match=r"the disk is full at .*raw_retrievals\.jsonl: free some space"),
    ):
        _write_for_ever(writer, numbers)
    return next(numbers) - 1


def _write_for_ever(writer: RawWriter, numbers: Iterator[int]) -> None:
    for number in numbers:
        writer.write(_retrieval(number))


def test_a_full_disk_leaves_a_run_to_resume(small_disk: Path) -> None:
    with RunFolder.start(small_disk, "run") as folder:
        written = _fill(folder.path)
    assert written > 10
    with RunFolder.resume(small_disk) as again, RawWriter(again.path / RAW) as writer:
        assert len(writer.done) == written


def test_a_file_that_does_not_fit_leaves_the_one_before(small_disk: Path) -> None:
    write_file(small_disk / "run.json", "{}\n")
    with pytest.raises(OutputError, match="the disk is full"):
        write_file(small_disk / "run.json", "x" * 100_000)
    assert [path.name for path in small_disk.iterdir()] == ["run.json"]
    assert (small_disk / "run.json").read_text(encoding="utf-8") == "{}\n"


def test_a_full_disk_is_told_without_a_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="the disk is full"):
        write_file(tmp_path / "run.json", "{}\n")
    assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError, match="the disk is full"), LineWriter(tmp_path / RAW) as writer:
        writer.append("{}")
