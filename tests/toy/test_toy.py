"""What it costs to add a part: one file and one line, in a copy of the runner with an edition of its own.

CONTRIBUTING.md points here. The copy makes runs with every toy, verifies them, and verifies every committed
run of the older editions too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from runner.editions import current
from runner.places import ROOT
from tests.helping import runner

PARTS = Path(__file__).with_name("parts")
FILES = {  # a part, and where its one file goes
    "suite.py": "runner/suites/toy.py",
    "text.py": "runner/texts/toy.py",
    "embedder.py": "runner/embedders/toy.py",
    "metric.py": "runner/metrics/families/toy.py",
    "system.py": "runner/systems/toy.py",
    "gate.py": "runner/gates/toy.py",
}
EDITION = "runner/editions/99.0.0/edition.toml"
LINES = {  # a file, the line that is there, and the one that follows it
    "runner/suites/__init__.py": (
        '"sample": "runner.suites.sample:SAMPLE",', '"toy": "runner.suites.toy:TOY",'
    ),
    "runner/texts/__init__.py": ('"full": "runner.texts.full:FULL",', '"toy": "runner.texts.toy:TOY",'),
    "runner/embedders/__init__.py": (
        '"hash": "runner.embedders.hashing:FeatureHashing",', '"toy": "runner.embedders.toy:Toy",'
    ),
    "runner/systems/__init__.py": ('"http": "runner.systems.http:HTTP",', '"toy": "runner.systems.toy:TOY",'),
    EDITION: ('"dataset", "shape",', '"toy",'),  # of the gates
}  # fmt: skip
CORPUS = [
    {"project": "one", "gold": "s1", "question": "where is the heron", "sessions": {
        "s1": ["the heron is at the weir", "it waits"], "s2": ["we baked bread"]}},
    {"project": "two", "gold": "s2", "question": "who sold the boat", "sessions": {
        "s1": ["rain all day"], "s2": ["Mira sold the boat", "to a fisher"]}},
]  # fmt: skip
PINS = """
[suites.toy]
file = "toy.json"
what = "the toy corpus"
sha256 = "{digest}"
embedder = "toy"
granularity = "session"
scopes = ["conversation", "pool"]
citable = false
[suites.toy.shape]
projects = 2
questions = 2
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with a toy of each part, under an edition that is newer than all."""
    top = tmp_path_factory.mktemp("toy") / "repository"
    ignored = shutil.ignore_patterns("__pycache__", "performance", "report.html")
    for name in ("runner", "sql", "benchmarks"):
        shutil.copytree(ROOT / name, top / name, ignore=ignored)
    for name in ("PROTOCOL.md", "HISTORY.md", "pyproject.toml"):
        shutil.copy(ROOT / name, top / name)
    (top / "toy.json").write_text(json.dumps(CORPUS))
    former = top / "runner" / "editions" / current().version
    edition = (former / "edition.toml").read_text()
    shutil.copy(top / "PROTOCOL.md", former / "PROTOCOL.md")
    shutil.copytree(former, (top / EDITION).parent, ignore=shutil.ignore_patterns("PROTOCOL.md"))
    edition = edition.replace(f'version = "{current().version}"', 'version = "99.0.0"', 1)
    edition = edition.replace('families = ["recall_any",', 'families = ["toy", "recall_any",', 1)
    digest = sha256((top / "toy.json").read_bytes()).hexdigest()
    (top / EDITION).write_text(edition + PINS.format(digest=digest))
    for name, place in FILES.items():
        shutil.copy(PARTS / name, top / place)
    for place, (line, added) in LINES.items():
        text = (top / place).read_text()
        assert text.count(line) == 1, f"{place} has no single line {line}"
        (top / place).write_text(text.replace(line, f"{line}\n    {added}"))
    return top


def made(top: Path, *words: str) -> Path:
    """The folder of a run that the copy makes, verified by it."""
    out = runner(
        top, *words, "--output", str(top / "made"), "--cache", str(top / "cache"), "--quiet", modules=top
    )
    folder = Path(out.split("artefacts: ")[1].strip())
    assert "intact" in runner(top, "verify", "--rerun", "0", str(folder), modules=top)
    return folder


def test_each_part_is_one_file_and_one_line(copy: Path) -> None:
    folder = made(copy, "sample", "--embedder", "toy", "--text", "toy", "--system", "toy")
    run, metrics = (json.loads((folder / name).read_text()) for name in ("run.json", "metrics.json"))
    assert run["protocol"]["version"] == "99.0.0"
    assert run["choice"]["text"] == "toy"
    assert run["embedder"]["name"] == "toy"
    assert run["arms"][0]["name"] == "toy"
    assert "toy" in {gate["gate"] for gate in run["gates"]}
    assert "first@1" in metrics["definitions"]
    assert "first@1" in (folder / "report.md").read_text()


def test_a_toy_corpus_is_registered_by_its_edition(copy: Path) -> None:
    folder = made(copy, "toy", "--data", str(copy / "toy.json"), "--systems", "toy")
    run, metrics = (json.loads((folder / name).read_text()) for name in ("run.json", "metrics.json"))
    assert run["verdict"] == "deviation"  # the copy is no checkout
    assert [gate["found"] for gate in run["gates"] if gate["gate"] == "dataset"] != []
    beside = {row["arm"] for row in metrics["results"]}
    assert {"pgmnemo", "toy"} <= beside
    found = {
        (row["arm"], row["scope"]): row["value"] for row in metrics["results"] if row["metric"] == "first@1"
    }
    assert found["toy", "conversation"] == 1.0


def test_committed_runs_of_older_editions_still_verify(copy: Path) -> None:
    thin = json.loads((copy / "benchmarks" / "raw.json").read_text())  # their raw files are in git's history
    found = sorted((copy / "benchmarks").glob("*/results/*/manifest.json"))
    committed = [path.parent for path in found if "/".join(path.parts[-4:-1]) not in thin]
    assert len(committed) >= 12
    told = runner(copy, "verify", "--rerun", "0", *map(str, committed), modules=copy)
    assert told.count("intact") >= len(committed)


def test_the_rule_of_layers_holds_for_the_toys(copy: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True,
    )  # fmt: skip
    assert "Contracts: " in done.stdout, done.stdout + done.stderr
    assert " kept, 0 broken" in done.stdout, done.stdout + done.stderr
