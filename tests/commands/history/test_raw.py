"""The raw files of a run leave the checkout and come back out of the repository's history."""

from __future__ import annotations

import lzma
import shutil
import subprocess
from pathlib import Path

import pytest

from runner.cli import main
from runner.commands.history.raw import restore, thin
from runner.runs.costs import TIMINGS
from runner.runs.packing import pack
from runner.runs.raw import RAW
from runner.runs.reading import Results
from runner.verification import verify
from tests.helping import kept_run
from tests.repositories import git

ROOT = Path(__file__).parents[3]
RUN = kept_run("sample").relative_to(ROOT)
NAMES = [RAW, TIMINGS]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A repository with a committed run of the sample, its raw files packed."""
    top = tmp_path / "repository"
    shutil.copytree(ROOT / RUN, top / RUN, ignore=shutil.ignore_patterns("report.html"))
    shutil.copy(ROOT / "HISTORY.md", top)
    pack(top / RUN)
    git(tmp_path, "init", "-q", str(top))
    git(top, "add", ".")
    git(top, "commit", "-qm", "Added a run")
    return top


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def thinned(top: Path) -> str:
    """Thin the run and commit that; the commit that still has the raw files."""
    first = git(top, "rev-parse", "HEAD")
    assert main(["history", "thin", str(top / RUN)]) == 0
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Took raw files away")
    return first


@pytest.mark.parametrize("form", ["packed", "plain"])
def test_what_was_taken_away_comes_back_and_verifies(
    kept: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if form == "plain":
        for name in NAMES:
            content = Results(kept / RUN).content(name)
            (kept / RUN / name).write_bytes(content)
            (kept / RUN / f"{name}.xz").unlink()
        git(kept, "add", "-A")
        git(kept, "commit", "-qm", "Unpacked")
    assert thin(kept / RUN) == NAMES
    assert names(kept / RUN) == {"manifest.json", "metrics.json", "report.md", "run.json"}
    git(kept, "add", "-A")
    git(kept, "commit", "-qm", "Took raw files away")
    assert main(["verify", str(kept / RUN)]) == 1
    assert f"history restore {kept / RUN}` takes it from" in capsys.readouterr().out
    assert restore(kept / RUN) == NAMES
    assert verify(kept / RUN).intact
    assert restore(kept / RUN) == []


def test_a_shallow_clone_says_which_commit_to_fetch(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, clone = thinned(kept), tmp_path / "clone"
    git(kept, "config", "uploadpack.allowAnySHA1InWant", "true")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{kept}", str(clone)], check=True)
    assert main(["history", "restore", str(clone / RUN)]) == 3
    assert f"`git fetch --depth 1 origin {first}`, then call again" in capsys.readouterr().err
    git(clone, "fetch", "-q", "--depth", "1", "origin", first)
    assert main(["history", "restore", str(clone / RUN)]) == 0
    assert Results(clone / RUN).content(RAW) == Results(ROOT / RUN).content(RAW)


def test_nothing_is_taken_away_that_no_commit_has(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = kept / RUN / f"{RAW}.xz"
    raw.write_bytes(lzma.compress(lzma.decompress(raw.read_bytes()) + b"{}\n"))
    git(kept, "commit", "-qam", "Changed a run")
    assert main(["history", "thin", str(kept / RUN)]) == 1
    assert "is in no commit as manifest.json lists it" in capsys.readouterr().err
    assert raw.exists()


@pytest.mark.parametrize("verb", ["thin", "restore"])
def test_what_is_no_run_or_in_no_repository_is_told(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", verb, str(tmp_path)]) == 2
    assert "is no results folder" in capsys.readouterr().err
    shutil.copytree(ROOT / RUN, tmp_path / "run", ignore=shutil.ignore_patterns("*.jsonl*"))
    assert main(["history", verb, str(tmp_path / "run")]) == 2
    assert "is in no commit of a git repository" in capsys.readouterr().err
    assert main(["history", verb]) == 2


def test_a_damaged_note_is_told_and_left(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thinned(kept)
    note = kept / "benchmarks" / "raw.json"
    note.write_text("[]\n")
    assert main(["history", "restore", str(kept / RUN)]) == 3
    assert "is no list of commits" in capsys.readouterr().err
    assert note.read_text() == "[]\n"
