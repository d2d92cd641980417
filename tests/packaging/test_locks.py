"""The locks: versions of constraints.txt, every file by its hash, and all that an environment needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tools.licences import OURS, needed

PIN = re.compile(r"^([\w.-]+)==([^\s;]+)[^\\\n]*((?:\\\n +--hash=sha256:[0-9a-f]{64} ?)*)$", re.MULTILINE)
ENVIRONMENTS = ("locks/run.txt", "locks/test.txt")
OTHERS = ("locks/hermes.txt", "docs/requirements.txt", "tools/sync_client.txt")
LEFT_OUT = ("torch", "nvidia-", "cuda-", "triton")  # with what the CUDA build of torch brings


def pins(path: Path) -> dict[str, tuple[str, int]]:
    """By package: its version, and how many files of it may be installed."""
    text = path.read_text(encoding="utf-8")
    found = {
        canonicalize_name(name): (version, files.count("--hash"))
        for name, version, files in PIN.findall(text)
    }
    assert len(found) == len(re.findall(r"^[^\s#]", text, re.MULTILINE)), "a line that is no pin"
    return found


@pytest.mark.parametrize("name", [*ENVIRONMENTS, *OTHERS])
def test_no_package_comes_without_a_hash(root: Path, name: str) -> None:
    assert [package for package, (_, files) in pins(root / name).items() if not files] == []


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_versions_are_those_of_the_constraints(root: Path, name: str) -> None:
    constrained = pins(root / "constraints.txt")
    locked = {package: version for package, (version, _) in pins(root / name).items()}
    assert {one for one in locked if one in constrained and locked[one] != constrained[one][0]} == set()
    assert locked["numpy"] == constrained["numpy"][0]


def test_the_environment_of_the_tests_comes_whole_from_its_lock(root: Path) -> None:
    locked = pins(root / "locks" / "test.txt")
    names = {canonicalize_name(one.metadata["Name"]) for one in needed(without=())}
    assert {one for one in names if one not in {*locked, *OURS} and not one.startswith(LEFT_OUT)} == set()
