"""What a package imports is what its metadata declares, never only what another package brings along."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDERS = {"pgmnemo": ".", "shards/pgmnemo_shards": "shards", "runner": "runner"}
"""Packages, each with the folder of its pyproject.toml."""
BASE = "pgmnemo-memory"
BY_NAME = ("import_module", "library")
"""Functions that import the module that their first argument names."""
NOT_OURS = {
    # Hermes loads the adapter into itself; Google ADK, an extra, is not in the environment of the tests.
    "pgmnemo": {"agent", "hermes_constants", "tools", "google"},
    "shards/pgmnemo_shards": set[str](),
    "runner": {
        "hatchling",
        "pipe",
        "mem0",
        "langchain",
    },  # builds the wheel; workers with an environment of their own
}


def imported(path: Path) -> Iterator[str]:
    """Yield the top-level modules that a file imports, as statements or by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(module)), *_]
            ):
                if name in BY_NAME:
                    yield module.split(".")[0]


def declared(root: Path, folder: str) -> set[str]:
    """Return the packages that a pyproject.toml asks for, in any extra, with those of the base."""
    project = tomllib.loads((root / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [need for needs in project.get("optional-dependencies", {}).values() for need in needs]
    names = {canonicalize_name(Requirement(need).name) for need in [*project["dependencies"], *extras]}
    return names | declared(root, ".") if BASE in names and project["name"] != BASE else names


@pytest.mark.parametrize("package", FOLDERS)
def test_every_import_is_declared(root: Path, package: str) -> None:
    owners, known = packages_distributions(), declared(root, FOLDERS[package])
    modules = {name for path in (root / package).rglob("*.py") for name in imported(path)}
    assert modules & {"psycopg", "msgspec"}
    others = modules - set(sys.stdlib_module_names) - {Path(one).name for one in FOLDERS} - NOT_OURS[package]
    lacking = {
        name for name in others if not known & {canonicalize_name(one) for one in owners.get(name, [name])}
    }
    assert lacking == set()
