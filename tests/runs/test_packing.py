"""A kept run's rankings, times and figures are packed: the same run for a reader, and never half of one."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.runs.packing import pack
from runner.runs.raw import RAW
from runner.runs.results import Results, Unreadable
from runner.verification import verify
from tests.finished import Finished

XZ = f"{RAW}.xz"


@pytest.fixture(scope="module")
def plain(finish: Callable[..., Any]) -> Finished:
    """A finished run of which nothing is packed."""
    run: Finished = finish()
    return run


@pytest.fixture
def packed(plain: Finished, tmp_path: Path) -> Path:
    home = tmp_path / "a home"
    home.mkdir()
    shutil.copy(plain.folder.parent / "HISTORY.md", home)
    folder = shutil.copytree(plain.folder, home / plain.folder.name)
    pack(folder)
    return folder


def test_a_packed_run_is_the_same_run(packed: Path, plain: Finished) -> None:
    left = {path.name for path in packed.iterdir()} - {path.name for path in plain.folder.iterdir()}
    assert left == {XZ, "timings.jsonl.xz", "metrics.json.xz"}
    for name in (RAW, "metrics.json"):
        assert not (packed / name).exists()
        assert Results(packed).content(name) == Results(plain.folder).content(name)
    answers = [verify(folder, sql=plain.sql).answers for folder in (packed, plain.folder)]
    asked = [[(one.check, one.found) for one in found] for found in answers]
    assert asked[0] == asked[1]
    before = (packed / XZ).read_bytes()
    pack(packed)
    assert (packed / XZ).read_bytes() == before


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    ("damage", "told"),
    [(lambda content: content[:-100], "cut short"), (lambda content: 2 * content, "more behind its end"),
     (flipped, "damaged"), (lzma.decompress, "damaged")],
)  # fmt: skip
def test_a_damaged_packed_file_is_told(packed: Path, damage: Callable[[bytes], bytes], told: str) -> None:
    (packed / XZ).write_bytes(damage((packed / XZ).read_bytes()))
    with pytest.raises(Unreadable, match=told):
        Results(packed).content(RAW)
    assert not verify(packed).intact


def test_the_rankings_of_another_run_are_told(packed: Path, finish: Callable[..., Any]) -> None:
    (packed / XZ).write_bytes(lzma.compress(Results(finish(minimum=4).folder).content(RAW)))
    [manifest] = [one for one in verify(packed).faults if one.check == "manifest"]
    assert RAW in manifest.sentence


@pytest.mark.parametrize("name", [RAW, "metrics.json"])
def test_a_file_that_lies_there_twice_is_told(packed: Path, plain: Finished, name: str) -> None:
    shutil.copy(plain.folder / name, packed)
    [complete] = [one for one in verify(packed).faults if one.check == "complete"]
    assert complete.sentence == f"{name} lies there packed and unpacked: take one away"


def test_rankings_that_left_the_tree_are_taken_from_the_history_by_the_command_that_is_told(
    packed: Path, tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    before = (packed / XZ).read_bytes()
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "kept")
    git("rm", "-q", str(packed / XZ))
    git("commit", "-qm", "thinned")
    [complete] = [one for one in verify(packed).faults if one.check == "complete"]
    [command] = re.findall("`(.*?)`", complete.sentence)
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (packed / XZ).read_bytes() == before
