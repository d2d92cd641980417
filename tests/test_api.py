"""Every public name of the package is there, and importing the package loads none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import runner
from runner import api


@pytest.mark.parametrize("name", api.__all__)
def test_every_public_name_can_be_called(name: str) -> None:
    assert callable(getattr(runner, name))
    assert name in dir(runner)


def test_a_name_that_is_not_public_is_said() -> None:
    with pytest.raises(AttributeError, match="module 'runner' has no attribute 'nonsense'"):
        _ = runner.nonsense


def test_importing_the_package_loads_nothing_else() -> None:
    code = (
        "import runner, sys; print([name for name in sys.modules if name.startswith(('runner.', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
