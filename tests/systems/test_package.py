"""A system in a package of its own: the one that runner/systems/README.md shows, installed and measured."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runner.places import ROOT
from tests.helping import runner

DOCUMENT = ROOT / "runner" / "systems" / "README.md"


def block(language: str) -> str:
    """The one block of a language in the document."""
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package is installed into."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    (source / "my_memory.py").write_text(block("python"))
    (source / "pyproject.toml").write_text(block("toml"))
    words = [
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "--quiet",
        "--target",
        str(target),
        str(source),
    ]
    subprocess.run([sys.executable, "-m", "pip", "install", *words], check=True, capture_output=True)
    return target


def command(installed: Path, *words: str) -> str:
    return runner(ROOT, *words, modules=installed)


def test_the_document_shows_it_in_thirty_lines() -> None:
    assert len((block("python") + block("toml")).splitlines()) <= 30


def test_it_keeps_the_contract(installed: Path) -> None:
    assert "my-memory keeps the contract" in command(installed, "check-system", "my-memory")


def test_it_is_measured_without_a_change_here(installed: Path, tmp_path: Path) -> None:
    out = command(
        installed,
        "sample",
        "--system",
        "my-memory",
        "--embedder",
        "none",
        "--output",
        str(tmp_path),
        "--quiet",
    )
    folder = Path(out.split("artefacts: ")[1].strip())
    run = json.loads((folder / "run.json").read_text())
    assert run["arms"][0]["name"] == "my-memory"
    assert folder.name.startswith("my-memory_")
    assert "intact" in command(installed, "verify", "--rerun", "0", str(folder))


def test_it_is_listed_where_a_name_is_wrong(installed: Path) -> None:
    environ = {**os.environ, "PYTHONHASHSEED": "42", "PYTHONPATH": str(installed)}
    words = [sys.executable, "-m", "runner", "sample", "--system", "my-memori"]
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert (done.returncode, "http, my-memory" in done.stderr) == (2, True)
