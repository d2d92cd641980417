"""Both wheels, built and unpacked outside the checkout: what they lack, an installed command lacks."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from runner.places import ROOT
from tests.helping import runner


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both wheels."""
    built = tmp_path_factory.mktemp("built")
    for place in (ROOT, ROOT / "runner"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
        subprocess.run(command, cwd=place, check=True, capture_output=True)
    return built


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the modules of both wheels, as pip would put them there."""
    modules = tmp_path_factory.mktemp("modules")
    for wheel in built.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(modules)
    return modules


def test_the_memorys_wheel_is_light_and_brings_its_vocabulary(installed: Path, built: Path) -> None:
    [memory] = built.glob("pgmnemo_memory-*.whl")
    assert memory.stat().st_size <= 1_000_000
    assert not (installed / "tests").exists()
    for name in ("vocab.txt", "LICENSE", "NOTICE"):
        assert (installed / "pgmnemo" / "models" / "bert" / name).is_file()


def test_a_run_needs_nothing_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    told = runner(tmp_path, "sample", "--embedder", "none", "--output", ".", modules=installed)
    [folder] = tmp_path.glob("v*")
    assert "deviation: tree: no commit is known: not a git checkout" in told
    assert "intact" in runner(
        tmp_path, "verify", "--rerun", "0", *map(str, tmp_path.iterdir()), modules=installed
    )
    assert (folder / "report.html").exists()
