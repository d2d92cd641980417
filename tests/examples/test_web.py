"""The web backend: logins lead to tenants, and nobody reaches another's rows, straight or by PgBouncer."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from starlette.testclient import TestClient

from pgmnemo.client.naming import tenant_id
from tests.pgmnemo.client.driving import Place
from tests.pooling import Pool

APP = Path(__file__).parents[2] / "examples" / "web" / "app.py"
TENANTS = ("acme", "acme-corp", "acm_", "acme%", "a' OR true --", "\u0430cme")


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("web_example", APP)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=["straight", "pgbouncer"])
def backend(request: pytest.FixtureRequest, place: Place) -> Iterator[TestClient]:
    """The backend as alice, with a user of each tenant, who is named like it."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROLE", "alice")
        dsn = place.dsn()
        if request.param == "pgbouncer":
            settings = {"pool_mode": "transaction", "default_pool_size": 2}
            server = {**place.server.conninfo, "dbname": place.name}
            program = request.getfixturevalue("bouncer")
            pool = Pool.start(program, stack, server, {"own": {}}, ["alice"], settings)
            dsn = make_conninfo(**pool.conninfo("alice"))
        patch.setenv("DSN", dsn)
        module = loaded()
        with place.connect() as owner:
            owner.execute("DROP TABLE IF EXISTS login, session, note")
            for tenant in TENANTS:
                owner.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (tenant_id(tenant),))
                owner.execute("DELETE FROM pgmnemo.lesson WHERE tenant_id = %s", (tenant_id(tenant),))
                module.add_user(owner, f"user of {tenant}", tenant, f"password of {tenant}")
        yield stack.enter_context(TestClient(module.app))


def logged_in(backend: TestClient, tenant: str) -> dict[str, str]:
    told = {"name": f"user of {tenant}", "password": f"password of {tenant}"}
    return {"Authorization": f"Bearer {backend.post('/login', json=told).json()['token']}"}


def test_each_tenant_finds_its_own_notes_alone_also_at_once(backend: TestClient, place: Place) -> None:
    tokens = {tenant: logged_in(backend, tenant) for tenant in TENANTS}

    def note(tenant: str) -> int:
        told = {"text": f"The secret of {tenant} is a kettle."}
        return backend.post("/add", json=told, headers=tokens[tenant]).status_code

    def found(tenant: str) -> list[set[str]]:
        answers = [backend.get(path, headers=tokens[tenant]) for path in ("/notes", "/notes?q=secret kettle")]
        return [{one["text"] for one in answer.json()} for answer in answers]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(note, TENANTS * 3)) == {201}
        for tenant, texts in zip(TENANTS * 2, pool.map(found, TENANTS * 2), strict=True):
            assert texts == [{f"The secret of {tenant} is a kettle."}] * 2
    with psycopg.connect(place.dsn()) as alice:
        assert alice.execute("SELECT count(*) FROM note").fetchone() == (0,)
        alice.execute("SELECT set_config('app.tenant', 'acme', true)")
        assert alice.execute("SELECT DISTINCT tenant FROM note").fetchall() == [("acme",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            alice.execute("INSERT INTO note (tenant, text) VALUES ('acme-corp', 'x')")


def test_a_note_that_is_not_remembered_is_not_there(backend: TestClient, place: Place) -> None:
    token = logged_in(backend, "acme")
    before = backend.get("/notes", headers=token).json()
    with place.connect() as owner:
        owner.execute("SELECT pgmnemo.revoke_tenant(%s, 'alice')", (tenant_id("acme"),))
    with pytest.raises(Exception, match="grant"):
        backend.post("/add", json={"text": "half a note"}, headers=token)
    with place.connect() as owner:
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (tenant_id("acme"),))
    assert backend.get("/notes", headers=token).json() == before


def test_nobody_gets_in_without_a_login(backend: TestClient) -> None:
    for name in ("user of acme", "nobody", "' OR true --"):
        password = "password of acm_"
        assert backend.post("/login", json={"name": name, "password": password}).status_code == 401
    for header in ("", "Bearer", "Bearer ", "Bearer x", "Bearer acme", "Basic eDp5"):
        assert backend.get("/notes", headers={"Authorization": header}).status_code == 401
        assert backend.post("/add", json={"text": "x"}, headers={"Authorization": header}).status_code == 401


@pytest.mark.filterwarnings("ignore::pgmnemo.errors.UnknownScriptWarning")
def test_what_is_no_note_is_refused(backend: TestClient) -> None:
    token = logged_in(backend, "acme")
    texts = (b"7", b'" "', b'"a\\u0000b"', b'"\\ud800"', b'"%s"' % (b"x" * 10_001))
    for content in (b"", b"{", b"[]", b"{}", b"\xff", *(b'{"text": %s}' % text for text in texts)):
        answer = backend.post("/add", content=content, headers=token)
        assert (answer.status_code, content[:20]) == (400, content[:20])
    for query in ("\0", "x" * 20_000, "ü" * 9_000, "%", "'"):
        assert backend.get(f"/notes?q={quote(query)}", headers=token).status_code in (200, 400)
