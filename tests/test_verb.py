"""A package that is named as its function is called like it, whatever was imported before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import runner

ROOT = Path(runner.__file__).parents[1]
VERBS = [name for name, home in runner.HOMES.items() if home == f"runner.{name}"]
CODE = """
{}
import runner
for _ in range(2):
    print(runner.verify("benchmarks/sample/results/v0.3.1_20261121_minilm").verdict)
"""


@pytest.mark.parametrize("name", runner.__all__)
def test_every_public_name_can_be_called(name: str) -> None:
    import_module(runner.HOMES[name])
    assert callable(getattr(runner, name))


def test_a_verb_passes_on_what_its_function_is_given() -> None:
    assert sorted(VERBS) == ["cite", "compare", "leaderboard", "score", "submit", "verify"]
    for name in VERBS:
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'nonsense'"):
            getattr(runner, name)(nonsense=1)


@pytest.mark.parametrize("before", ["", "import runner.verify.checks", "from runner.verify import verify"])
def test_it_is_called_twice_from_a_fresh_start(before: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(before)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("verified\n" * 2, "")
