"""Variables of libpq that were set for another server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgmnemo import Memory
from pgmnemo.client.location import dsn_parameters
from tests.pgmnemo.postgres.embedded.serving import new_base

FOREIGN = {
    "PGOPTIONS": "-c statement_timeout=1", "PGCLIENTENCODING": "LATIN1", "PGCHANNELBINDING": "require",
    "PGTARGETSESSIONATTRS": "standby", "PGREQUIREAUTH": "scram-sha-256", "PGGSSENCMODE": "require",
    "PGHOSTADDR": "127.0.0.1", "PGPORT": "1", "PGUSER": "nobody", "PGDATABASE": "other", "PGTZ": "Asia/Tokyo",
    "PGSSLMODE": "require", "PGSERVICE": "nowhere",
}  # fmt: skip


def test_a_folder_is_opened_whatever_libpq_is_told_of_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    with new_base() as base, Memory.open(Path(base) / "memory", embedder=None) as memory:
        scope = memory.tenant("ada").project("kitchen")
        scope.add("It costs 5 €.", key="k")
        assert scope.get("k").text == "It costs 5 €."


def test_an_address_is_read_in_utf_8_unless_it_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PGCLIENTENCODING", "LATIN1")
    assert dsn_parameters("dbname=a")["client_encoding"] == "UTF8"
    assert dsn_parameters("dbname=a client_encoding=LATIN1")["client_encoding"] == "LATIN1"
