"""The shape of the house: stages stand on the vocabulary and do not know one another; commands join them."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import runner

PACKAGE = Path(runner.__file__).parent
STEPS = [  # of the ground: each stands on those before it
    {"escaping"},
    {"terminal"},
    {"records", "errors", "progress", "versions", "places", "verb", "markdown"},
    {"registry", "naming"},
    {"options"},
    {"editions", "models"},
    {"runs"},
]
GROUND: set[str] = set().union(*STEPS)
JOINTS = {  # commands, and the pipeline: they join stages, and no stage knows them
    "answers", "attest", "bench", "cite", "compare", "export", "history", "leaderboard", "page", "passages",
    "perf", "score", "sign", "submit", "train", "tune", "verify",
}  # fmt: skip
STAGES = sorted(
    path.name
    for path in PACKAGE.iterdir()
    if (path / "__init__.py").exists() and path.name not in GROUND | JOINTS
)
BESIDES = {
    "metrics": {"statistics"},  # a score is a value with its interval
    "rerankers": {"systems"},  # a wrapper over the contract of systems
    "suites": {"texts"},  # a lesson is written by a text construction
    "systems": {"database", "embedders"},  # pgmnemo lives in a database; a system is proved with some vectors
}


@cache
def imported(part: str) -> dict[str, set[str]]:
    """The other parts of `runner` that a part imports, anywhere in it, and the modules that do."""
    folder = PACKAGE / part
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]:
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        for other in {name.split(".")[1] for name in names if name.startswith("runner.")} - {part}:
            if (PACKAGE / other).is_dir() or (PACKAGE / f"{other}.py").exists():
                found.setdefault(other, set()).add(str(path.relative_to(PACKAGE)))
    return found


def strangers(part: str, allowed: set[str]) -> list[str]:
    return [
        f"{module} imports {other}"
        for other, modules in imported(part).items()
        if other not in allowed
        for module in sorted(modules)
    ]


def test_the_stages_are_these() -> None:
    assert STAGES == [
        "database", "embedders", "gates", "metrics", "report", "rerankers", "rewriters", "statistics",
        "suites", "systems", "texts",
    ]  # fmt: skip


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_the_ground_and_itself_alone(stage: str) -> None:
    assert not strangers(stage, GROUND | BESIDES.get(stage, set()))


@pytest.mark.parametrize("part", sorted(GROUND))
def test_the_ground_imports_no_stage_and_stands_in_steps(part: str) -> None:
    step = next(number for number, parts in enumerate(STEPS) if part in parts)
    assert not strangers(part, set().union(*STEPS[:step]))


def test_no_part_imports_itself_by_way_of_another() -> None:
    parts = [*GROUND, *STAGES, *JOINTS]
    assert len(list(TopologicalSorter({part: set(imported(part)) for part in parts}).static_order())) >= len(
        parts
    )


def test_the_pipeline_joins_the_stages() -> None:
    assert set(STAGES) - {"statistics"} <= set(imported("bench"))
