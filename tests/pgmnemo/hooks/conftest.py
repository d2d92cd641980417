"""The fixtures of every door."""

from tests.pgmnemo.adapters.conftest import open_memory, page, place, scope

__all__ = ["open_memory", "page", "place", "scope"]
