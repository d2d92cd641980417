"""Peers in an environment of their own: what is missing there, another version, and how one is made."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.errors import SystemFault
from runner.systems import SYSTEMS, Place, absent, kind_of, open_system
from runner.systems import apart as module
from runner.systems.apart import MEM0, Apart

INSTALL = "python -m runner peers install"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"PGMNEMO_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def peer(tmp_path: Path) -> Apart:
    """A package that is nowhere."""
    requirements = tmp_path / "toy.txt"
    requirements.write_text("toy-peer==1.5\n")
    return Apart("toy", "toy-peer", "1.5", requirements, "nothing")


def laid(peer: Apart, environ: dict[str, str], version: str | None) -> None:
    """The environment as pip leaves it, with the package at a version."""
    place = peer.folder(environ) / "lib" / "python3.11" / "site-packages"
    place.mkdir(parents=True)
    peer.python(environ).parent.mkdir()
    peer.python(environ).symlink_to(sys.executable)
    if version:
        facts = place / f"toy_peer-{version}.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-peer\nVersion: {version}\n")


def test_what_is_not_installed_is_told_with_the_command_that_installs_it(
    peer: Apart, environ: dict[str, str]
) -> None:
    words = f"not installed: toy-peer 1.5, which needs an environment of its own; {INSTALL} toy"
    assert peer.missing(environ) == words
    laid(peer, environ, None)
    assert peer.missing(environ) == words


def test_another_version_is_told_and_the_right_one_lacks_nothing(
    peer: Apart, environ: dict[str, str], tmp_path: Path
) -> None:
    laid(peer, environ, "0.1.115")
    words = f"of another version: toy-peer 0.1.115 instead of 1.5; {INSTALL} toy"
    assert peer.missing(environ) == words
    other = {"PGMNEMO_CACHE_DIR": str(tmp_path / "other")}
    laid(peer, other, "1.5")
    assert peer.missing(other) == ""


def test_an_environment_whose_python_is_gone_is_not_installed(peer: Apart, environ: dict[str, str]) -> None:
    laid(peer, environ, "1.5")
    peer.python(environ).unlink()
    peer.python(environ).symlink_to("/nowhere/python")
    assert peer.missing(environ).startswith("not installed: ")


def test_the_row_of_a_peer_says_what_is_missing(
    peer: Apart, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Any
) -> None:
    def never(place: Place) -> Any:
        raise AssertionError("it cannot be opened")

    monkeypatch.setitem(SYSTEMS._members, "toy", tools.kind(never, missing=peer.missing))
    laid(peer, environ, "2.0")
    assert absent(kind_of("toy"), environ).startswith("of another version: toy-peer 2.0 instead of 1.5")
    place = Place(tmp_path, environ=environ)
    words = "^toy is of another version: toy-peer 2.0 instead of 1.5; "
    with pytest.raises(SystemFault, match=words), open_system("toy", place):
        pass


def test_it_is_made_by_pip_and_made_anew(
    peer: Apart, environ: dict[str, str], piped: Callable[..., None]
) -> None:
    piped("1.5")
    assert peer.install(environ) == peer.folder(environ)
    assert peer.missing(environ) == ""
    (peer.folder(environ) / "left").write_text("")
    peer.install(environ)
    assert not (peer.folder(environ) / "left").exists()


def test_pip_that_fails_leaves_nothing_and_is_one_sentence(
    peer: Apart, environ: dict[str, str], piped: Callable[..., None]
) -> None:
    piped(None)
    with pytest.raises(SystemFault, match=r"^pip could not install toy-peer 1\.5"):
        peer.install(environ)
    assert not peer.folder(environ).exists()


def test_pip_that_takes_another_version_is_one_sentence(
    peer: Apart, environ: dict[str, str], piped: Callable[..., None]
) -> None:
    piped("0.1.115")
    with pytest.raises(SystemFault, match=r"^toy is still of another version: toy-peer 0\.1\.115"):
        peer.install(environ)


@pytest.fixture
def piped(environ: dict[str, str], peer: Apart, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What pip installs; None: it fails. The environment itself is made in truth, but for pip."""
    builder, run = module.venv.EnvBuilder, subprocess.run
    monkeypatch.setattr(module.venv, "EnvBuilder", lambda **given: builder(**{**given, "with_pip": False}))

    def installs(version: str | None) -> None:
        def pip(command: Any, **given: Any) -> Any:
            if "pip" not in command:
                return run(command, **given)
            assert command[-2:] == ["-r", str(peer.requirements)]
            [place] = peer.folder(environ).glob("lib/python*/site-packages")
            if version:
                facts = place / f"toy_peer-{version}.dist-info"
                facts.mkdir()
                (facts / "METADATA").write_text(
                    f"Metadata-Version: 2.1\nName: toy-peer\nVersion: {version}\n"
                )
            return subprocess.CompletedProcess(command, int(version is None))

        monkeypatch.setattr(module.subprocess, "run", pip)

    return installs


def test_the_command_names_the_peers_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["peers", "install", "chroma"]) == 2
    assert capsys.readouterr().err == (
        "wrong use: no peer named 'chroma' has an environment of its own; choose one of: mem0\n"
    )


def test_the_requirements_of_mem0_name_its_version_and_pin_everything() -> None:
    lines = MEM0.requirements.read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert f"{MEM0.package}=={MEM0.version}" in pins
    assert all("==" in pin for pin in pins)
