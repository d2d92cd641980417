"""A package with the name of its chief function, called like it: `runner.verify(…)`.

An import of the package sets it where the function was, so the two must be one.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package that is called as the function of its own name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **options)


def verb(package: str) -> None:
    """Let `package` be called."""
    sys.modules[package].__class__ = Verb
