"""The fixtures of every door."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pgmnemo.serving.tokens import Holder
from tests.pgmnemo.adapters.conftest import open_memory, page, place, scope

__all__ = ["open_memory", "page", "place", "scope"]


@pytest.fixture
def holder() -> Holder:
    """The one of a server without tokens."""
    return Holder(id="-", tenant="me", made_at=datetime.now(UTC))
