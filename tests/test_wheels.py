"""Wheels and sdists of all three, outside the checkout: what they lack, an installed command lacks."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from runner.paths import ROOT
from tests.helping import CURRENT, runner

PLACES = {"pgmnemo_memory": ROOT, "pgmnemo_bench": ROOT / "runner", "pgmnemo_shards": ROOT / "shards"}
LICENCES = {"pgmnemo_memory": "MIT AND Apache-2.0", "pgmnemo_bench": "MIT", "pgmnemo_shards": "MIT"}
ONLY_TO_BUILD = {"runner/LICENSE", "runner/README.md", "runner/hatch_build.py", "runner/pyproject.toml"}


def build(place: Path, folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    subprocess.run(command, cwd=place, check=True, capture_output=True)


def contents(wheel: Path) -> dict[str, bytes]:
    """Its files, without the list of them."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def wheel(folder: Path, name: str) -> Path:
    [found] = folder.glob(f"{name}-*.whl")
    return found


def metadata(files: dict[str, bytes]) -> tuple[str, Message]:
    """The folder of a wheel's own files, and what it says of itself."""
    [name] = (name for name in files if name.endswith(".dist-info/METADATA"))
    return name.removesuffix("METADATA"), message_from_bytes(files[name])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of each."""
    built = tmp_path_factory.mktemp("built")
    for place in PLACES.values():
        build(place, built)
    return built


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the modules of all wheels, as pip would put them there."""
    modules = tmp_path_factory.mktemp("modules")
    for one in built.glob("*.whl"):
        zipfile.ZipFile(one).extractall(modules)
    return modules


def test_the_memorys_wheel_has_nothing_of_the_others(built: Path) -> None:
    folders = {name.split("/")[0] for name in contents(wheel(built, "pgmnemo_memory"))}
    assert {name for name in folders if not name.endswith(".dist-info")} == {"pgmnemo"}


def test_the_memorys_wheel_is_light_and_brings_its_vocabulary(installed: Path, built: Path) -> None:
    assert wheel(built, "pgmnemo_memory").stat().st_size <= 1_180_000
    assert not (installed / "tests").exists()
    for name in ("vocab.txt", "LICENSE", "NOTICE"):
        assert (installed / "pgmnemo" / "models" / "bert" / name).is_file()


def test_the_wheels_have_every_file_of_their_packages(installed: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout: which files are ours is not known")
    listed = ["git", "ls-files", "pgmnemo", "runner", "shards/pgmnemo_shards"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    ours = {name.removeprefix("shards/") for name in names if (ROOT / name).is_file()} - ONLY_TO_BUILD
    assert "pgmnemo/http/page/page.js" in ours
    assert {name for name in ours if not (installed / name).is_file()} == set()
    assert not any((installed / name).exists() for name in ONLY_TO_BUILD)


@pytest.mark.parametrize("name", PLACES)
def test_a_wheel_says_its_version_and_its_licences_and_brings_their_texts(built: Path, name: str) -> None:
    files = contents(wheel(built, name))
    folder, said = metadata(files)
    assert (said["Version"], said["License-Expression"]) == (CURRENT, LICENCES[name])
    texts = [files[f"{folder}licenses/{one}"] for one in said.get_all("License-File", [])]
    assert (ROOT / "LICENSE").read_bytes() in texts
    assert ((ROOT / "pgmnemo/models/bert/LICENSE").read_bytes() in texts) == ("Apache-2.0" in LICENCES[name])


@pytest.mark.parametrize("name", PLACES)
def test_an_sdist_makes_the_wheel_that_the_checkout_makes(built: Path, tmp_path: Path, name: str) -> None:
    [sdist] = built.glob(f"{name}-*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [source] = tmp_path.iterdir()
    build(source, tmp_path / "made", "-t", "wheel")
    again, first = contents(wheel(tmp_path / "made", name)), contents(wheel(built, name))
    assert {one for one in {*again, *first} if again.get(one) != first.get(one)} == set()


def test_a_run_needs_nothing_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    told = runner(tmp_path, "sample", "--embedder", "none", "--output", ".", modules=installed)
    [folder] = tmp_path.glob("v*")
    assert "an installation works" in told
    assert "- tree: no commit is known: not a git checkout" in (folder / "report.md").read_text()
    assert "intact" in runner(
        tmp_path, "verify", "--rerun", "0", *map(str, tmp_path.iterdir()), modules=installed
    )
    assert (folder / "report.html").exists()
