"""What it costs to add a part: one file and one line, in a copy of the runner with an edition of its own.

CONTRIBUTING.md points here. A copy of the repository gets a toy of each part, releases an edition with them,
makes runs with every toy, verifies them, and still verifies a run of the edition before. The tests of what
an edition decides are run there, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from runner.paths import ROOT
from runner.protocol.editions import current
from tests.helping import runner

PARTS = Path(__file__).with_name("parts")
FILES = {  # a part, and where its one file goes
    "suite.py": "runner/protocol/datasets/toy.py",
    "text.py": "runner/protocol/templates/toy.py",
    "embedder.py": "pgmnemo/embedders/toy.py",
    "metric.py": "runner/protocol/metrics/families/toy.py",
    "system.py": "runner/systems/toy.py",
    "gate.py": "runner/protocol/gates/toy.py",
}
NEXT = "runner/protocol/editions/next.toml"
ADDED = 'gates = ["toy"]\nmetrics.families = ["toy"]\n'  # a line each, of the next edition
LINES = {  # a file, the line that is there, and the one that follows it
    "runner/protocol/datasets/__init__.py": (
        '"sample": "runner.protocol.datasets.sample:SAMPLE",', '"toy": "runner.protocol.datasets.toy:TOY",'
    ),
    "runner/protocol/templates/__init__.py": (
        '"user-only-dated": "runner.protocol.templates:USER_ONLY_DATED",',
        '"toy": "runner.protocol.templates.toy:TOY",',
    ),
    "pgmnemo/embedders/__init__.py": (
        '"hash": "pgmnemo.embedders.hashing:FeatureHashing",', '"toy": "pgmnemo.embedders.toy:Toy",'
    ),
    "runner/systems/__init__.py": ('"http": "runner.systems.http:HTTP",', '"toy": "runner.systems.toy:TOY",'),
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

DECIDED = (  # tests of what an edition decides or writes, and of registries
    "commands/cite/test_cite.py", "commands/cite/test_marks.py", "pgmnemo/test_registry.py",
    "protocol/editions/test_load.py", "protocol/editions/test_twin.py", "protocol/gates",
    "protocol/templates", "protocol/metrics/test_agreement.py", "protocol/metrics/test_family.py",
    "protocol/metrics/test_score.py", "protocol/datasets/test_corpus.py", "report/test_render.py",
    "systems/test_contract.py::test_all_that_need_no_network_are_among_them", "verify/test_rescore.py",
)  # fmt: skip
OWED = {  # those that ask for the new part's own test
    "test_every_gate_passes_in_a_verified_run", "test_every_gate_has_a_case_in_which_it_does_not_pass",
    "test_all_that_need_no_network_are_among_them", "test_agrees_with_a_second_implementation",
}  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with a run of today, then a toy of each part under an edition that is released there."""
    top = tmp_path_factory.mktemp("toy") / "repository"
    ignored = shutil.ignore_patterns("__pycache__", "performance", "report.html", "results")
    for name in ("pgmnemo", "runner", "shards", "sql", "benchmarks", "tools"):
        shutil.copytree(ROOT / name, top / name, ignore=ignored)
    for name in ("PROTOCOL.md", "HISTORY.md", "pyproject.toml"):
        shutil.copy(ROOT / name, top / name)
    made(top, "sample", "--embedder", "none")
    (top / "toy.json").write_text(json.dumps(CORPUS))
    digest = sha256((top / "toy.json").read_bytes()).hexdigest()
    (top / NEXT).write_text(ADDED + PINS.format(digest=digest))
    for name, place in FILES.items():
        shutil.copy(PARTS / name, top / place)
    for place, (line, added) in LINES.items():
        text = (top / place).read_text()
        assert text.count(line) == 1, f"{place} has no single line {line}"
        (top / place).write_text(text.replace(line, f"{line}\n    {added}"))
    assert released(top, "99.0.0", "--why", "A toy of each part").startswith("99.0.0 is in force; commit")
    return top


def released(top: Path, *words: str) -> str:
    """What the command that releases an edition says in the copy, on either stream."""
    done = subprocess.run(
        [sys.executable, str(top / "tools" / "edition.py"), *words], cwd=top, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(top)},
    )  # fmt: skip
    assert done.returncode == (2 if done.stderr else 0), done.stderr
    return done.stderr or done.stdout


def made(top: Path, *words: str) -> Path:
    """The folder of a run that the copy makes, verified by it."""
    out = runner(
        top, *words, "--output", str(top / "made"), "--cache", str(top / "cache"), "--quiet", modules=top
    )
    folder = Path(out.split("artefacts: ")[1].strip())
    assert "intact" in runner(top, "verify", "--rerun", "0", str(folder), modules=top)
    return folder


def test_each_part_is_one_file_and_one_line(copy: Path) -> None:
    folder = made(copy, "sample", "--embedder", "toy", "--template", "toy", "--system", "toy")
    run, metrics = (json.loads((folder / name).read_text()) for name in ("run.json", "metrics.json"))
    assert run["protocol"]["version"] == "99.0.0"
    assert run["choice"]["template"] == "toy"
    assert run["embedder"]["name"] == "toy"
    assert run["arms"][0]["name"] == "toy"
    assert "toy" in {gate["gate"] for gate in run["gates"]}
    assert "first@1" in metrics["definitions"]
    assert "first@1" in (folder / "report.md").read_text()


def test_a_toy_corpus_is_registered_by_its_edition(copy: Path) -> None:
    folder = made(copy, "toy", "--data", str(copy / "toy.json"), "--baselines", "toy")
    run, metrics = (json.loads((folder / name).read_text()) for name in ("run.json", "metrics.json"))
    assert run["verdict"] == "deviation"  # the copy is no checkout
    assert [gate["found"] for gate in run["gates"] if gate["gate"] == "dataset"] != []
    beside = {row["arm"] for row in metrics["results"]}
    assert {"pgmnemo", "toy"} <= beside
    found = {
        (row["arm"], row["scope"]): row["value"] for row in metrics["results"] if row["metric"] == "first@1"
    }
    assert found["toy", "conversation"] == 1.0


def test_a_run_of_the_edition_before_still_verifies(copy: Path) -> None:
    versions = {}
    for path in sorted((copy / "made").glob("*/run.json")):
        versions[json.loads(path.read_bytes())["protocol"]["version"]] = path.parent
    told = runner(copy, "verify", "--rerun", "0", str(versions[current().version]), modules=copy)
    assert "intact" in told


def test_what_is_released_is_said_where_readers_look(copy: Path) -> None:
    text, history = ((copy / name).read_text() for name in ("PROTOCOL.md", "HISTORY.md"))
    assert "**Version 99.0.0**" in text
    assert "| 99.0.0 |" in text
    assert "| `first@1` | Share of questions whose first segment is gold. | 1 |" in text
    assert "- `toy`: PASSED for a small suite, FAILED for another." in text
    assert "· protocol · 99.0.0\n\nA toy of each part\n" in history
    pins = (copy / "runner" / "protocol" / "editions" / "99.0.0" / "edition.toml").read_bytes()
    assert f"SHA-256 of `edition.toml`: `{sha256(pins).hexdigest()}`" in text
    assert "gates" not in (copy / NEXT).read_text()


def test_a_release_breaks_no_test_but_those_that_ask_for_the_parts_own(copy: Path) -> None:
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--tb=line", *(f"tests/{name}" for name in DECIDED)], cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True,
    )  # fmt: skip
    assert set(re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", done.stdout, re.MULTILINE)) == OWED, done.stdout


@pytest.mark.parametrize(
    ("words", "next_lines", "sentence"),
    [
        (("98.0.0", "--why", "x"), 'gates = ["blocked"]', "98.0.0 is no version after 99.0.0"),
        (("99.1.0",), 'gates = ["blocked"]', "--why takes one line"),
        (("99.1.0", "--why", "x"), "", "nothing is new: neither next.toml nor PROTOCOL.md has changed"),
        (("99.1.0", "--why", "x"), 'gates = ["moon"]', "there is no gate named 'moon'"),
        (("99.1.0", "--why", "x"), "moon = 1", "next.toml is no part of an edition: "),
        (
            ("99.1.0", "--why", "x"),
            "gates = [",
            "next.toml is not valid TOML (Invalid value (at end of document)); mend it",
        ),
        (("99.1.0", "--why", "x"), 'gates = ["leak"]', "next.toml: gates has leak twice"),
        (("99.1.0", "--why", "x"), 'arms = ["moon"]', "next.toml: arms names moon, which there is not"),
        (("99.1.0", "--why", "x"), 'metrics.headline = ["moon@5"]', "there is no metric named 'moon@5'"),
        (("99.1.0", "--why", "x"), 'suites.toy.embedder = "moon"', "suites.toy.embedder names moon, which"),
        (("99.1.0", "--why", "x"), 'suites.toy.sha256 = "xyz"', "suites.toy.sha256 is 'xyz' and no SHA-256"),
        (("99.1.0", "--why", "x"), "suites.toy.moon = 1", "unknown field `moon` in suites.toy"),
        (("99.0.0",), 'gates = ["blocked"]', "next.toml has lines, which belong to the edition after 99.0.0"),
    ],
)
def test_what_cannot_be_released_is_one_sentence_and_changes_nothing(
    copy: Path, words: tuple[str, ...], next_lines: str, sentence: str
) -> None:
    before = [(copy / name).read_bytes() for name in ("PROTOCOL.md", "HISTORY.md")]
    (copy / NEXT).write_text(next_lines)
    assert sentence in released(copy, *words)
    (copy / NEXT).write_text("")
    assert [(copy / name).read_bytes() for name in ("PROTOCOL.md", "HISTORY.md")] == before
    assert not (copy / "runner" / "protocol" / "editions" / "99.1.0").exists()


def test_the_rule_of_layers_holds_for_the_toys(copy: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True,
    )  # fmt: skip
    assert "Contracts: " in done.stdout, done.stdout + done.stderr
    assert " kept, 0 broken" in done.stdout, done.stdout + done.stderr
