"""`check-system` rejects what a run rejects; the package that the README shows keeps the contract."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgmnemo.progress import QUIET, Progress
from runner.paths import ROOT
from runner.systems import SYSTEMS, Lessons, Match, Query, System, SystemContext, SystemSpec
from runner.systems.conformance import check_system
from tests.helping import runner


class Honest(System):
    """The lessons of a scope by the number of words in common with the question; what is `told` besides."""

    components: tuple[str, ...] = ()

    def __init__(self, place: SystemContext, **told: Any) -> None:
        self.told = told

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.lessons = list(lessons)
        return self.told.get("seconds", {"store": 0.1})  # type: ignore[no-any-return]

    def ask(self, query: Query, k: int) -> Any:
        inside = [one for one in self.lessons if query.project in (None, one.project)]
        words = set(query.text.split())
        matches = [Match(one.number, float(len(words & set(one.text.split())))) for one in inside]
        found = sorted(matches, key=lambda match: -(match.score or 0))[:k]
        change = self.told.get("ask", lambda query, found: found)
        return change(query, found)

    def sizes(self) -> Mapping[str, Any]:
        return self.told.get("sizes", {})  # type: ignore[no-any-return]


class Two(Honest):
    """It has a leg, which answers as `told`."""

    retrievers = {"bm25": ({"leg": "bm25"}, "its words")}  # noqa: RUF012

    def client(self, settings: Mapping[str, str] | None = None) -> Any:
        leg = self.told["leg"] if settings else lambda found: found
        return SimpleNamespace(ask=lambda query, k: leg(self.ask(query, k)), close=lambda: None)


def parted(found: list[Match]) -> list[Match]:
    """With components that no system names."""
    return [replace(match, components=(1.0,)) for match in found]


WRONG: dict[str, tuple[type[Honest], dict[str, Any], str, str]] = {
    "components, where there is no name": (
        Honest, {"ask": lambda query, found: found if "Chloe" in query.text else parted(found)},
        "questions are answered",
        "answered question 1 with 1 components of a score where it names 0 ('who planted a quince tree?')",
    ),
    "a question that it cannot read": (
        Honest, {"ask": lambda query, found: found if any(map(str.isalpha, query.text)) else 1 / 0},
        "questions are answered", "ZeroDivisionError: division by zero ('…?')",
    ),
    "a leg with components": (Two, {"leg": parted}, "legs are answered", "where it names 0"),
    "a size that is no number": (Honest, {"sizes": {"all": "big"}}, "costs are numbers", "TypeError"),
    "seconds that are none": (Honest, {"seconds": {"all": float("nan")}}, "opens and loads", "ValueError"),
}  # fmt: skip


def checked(
    monkeypatch: pytest.MonkeyPatch, place: SystemContext, kind: type[Honest], told: Any
) -> dict[str, str]:
    """What is wrong with a system, by check."""
    known = SystemSpec("Odd", "an odd one", lambda place: kind(place, **told), vectors=False)
    monkeypatch.setitem(SYSTEMS._members, "odd", known)
    return {one.name: one.sentence for one in check_system("odd", place) if not one.holds}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_run_rejects_is_rejected_here(
    case: str, place: SystemContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, told, name, sentence = WRONG[case]
    assert sentence in checked(monkeypatch, place, kind, told)[name]


@pytest.mark.parametrize("kind", [Honest, Two])
def test_what_keeps_the_contract_is_not(
    kind: type[Honest], place: SystemContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checked(monkeypatch, place, kind, {"leg": lambda found: found}) == {}


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
        "--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target", str(target), str(source),
    ]  # fmt: skip
    subprocess.run([sys.executable, "-m", "pip", "install", *words], check=True, capture_output=True)
    return target


def test_it_keeps_the_contract(installed: Path) -> None:
    assert "my-memory keeps the contract" in runner(ROOT, "check-system", "my-memory", modules=installed)


def test_it_is_measured_without_a_change_here(installed: Path, tmp_path: Path) -> None:
    words = ("--system", "my-memory", "--embedder", "none", "--output", str(tmp_path), "--quiet")
    out = runner(ROOT, "sample", *words, modules=installed)
    folder = Path(out.split("artefacts: ")[1].strip())
    run = json.loads((folder / "run.json").read_text())
    assert run["arms"][0]["name"] == "my-memory"
    assert folder.name.startswith("my-memory_")
    assert "intact" in runner(ROOT, "verify", "--rerun", "0", str(folder), modules=installed)
