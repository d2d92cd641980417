"""The shape of the house: stages stand on the vocabulary and do not know one another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import runner

PACKAGE = Path(runner.__file__).parent
GROUND = {"records", "errors", "registry", "progress", "protocol"}
JOINTS = {"claims", "passages", "perf", "tune"}  # like pipeline.py: joins stages, and no stage knows it
STAGES = sorted(
    path.name
    for path in PACKAGE.iterdir()
    if (path / "__init__.py").exists() and path.name not in GROUND | JOINTS
)
BESIDES = {"metrics": {"statistics"}}  # a score is a value with its interval


def imported(path: Path) -> set[str]:
    """Names of the parts of `runner` that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("runner.")}
    return {part for part in parts if (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").exists()}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_the_ground_and_itself_alone(stage: str) -> None:
    allowed = GROUND | {stage} | BESIDES.get(stage, set())
    strangers = {
        f"{path.relative_to(PACKAGE)} imports {part}"
        for path in (PACKAGE / stage).rglob("*.py")
        for part in imported(path) - allowed
    }
    assert not strangers


@pytest.mark.parametrize("part", sorted(GROUND - {"protocol"}))
def test_the_ground_imports_no_stage(part: str) -> None:
    assert not imported(PACKAGE / f"{part}.py") & (set(STAGES) | JOINTS)


def test_the_pipeline_and_its_conclusion_join_the_stages() -> None:
    joined = imported(PACKAGE / "pipeline.py") | imported(PACKAGE / "conclusion.py")
    assert {"artefacts", "database", "embedders", "gates", "metrics", "report", "systems"} <= joined
