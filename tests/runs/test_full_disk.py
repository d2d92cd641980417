"""A full disk ends in one sentence, and what was written before is kept and can be gone on with."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgmnemo.errors import OutputError
from runner.runs.folder import RunFolder
from runner.runs.lines import LineWriter
from runner.runs.raw import RAW
from runner.runs.storage import write_file


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
