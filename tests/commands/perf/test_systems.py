"""Systems that load the corpus of a measurement: tenants apart, the nearest found, plans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from pgmnemo.paths import SQL_FOLDER
from runner.commands.perf.measurement import _judge
from runner.commands.perf.request import Subject, subject
from runner.commands.perf.timing import Reads
from runner.commands.perf.workload import Loaded, Tenant, Workload, nearest
from runner.systems import Match, Place, Query, System, chroma
from runner.systems.pgmnemo.session import Form
from runner.systems.system import Planned
from tests.helping import CURRENT

K = 10
pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")
NAMES = (
    "pgmnemo",
    "pgmnemo+passages",
    "sqlite-hybrid",
    "chroma",
)  # the others: tests/systems/test_contract.py
Opened = tuple[Subject, Any]


@pytest.fixture(scope="module", params=NAMES)
def loaded(
    request: pytest.FixtureRequest, workload: Workload, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    one = subject(request.param)
    if sentence := one.missing(CURRENT):
        pytest.skip(sentence)
    with one.open(Place(tmp_path_factory.mktemp("system"), sql=SQL_FOLDER), CURRENT) as system:
        seconds = system.load(Loaded(workload, one.passages))
        assert all(value >= 0 for value in seconds.values())
        yield one, system


@pytest.fixture
def client(loaded: Opened) -> Iterator[Any]:
    with closing(loaded[1].client()) as client:
        yield client


def reads(loaded: Opened, tenant: Tenant) -> Reads:
    return Reads(tenant, K, walls=loaded[0].kind.walls)


def searched(loaded: Opened, tenant: Tenant) -> Tenant | None:
    """Whose rows the tenant's questions are answered from; None: everybody's."""
    return None if reads(loaded, tenant).project is None else tenant


def asked(loaded: Opened, workload: Workload, tenant: Tenant) -> list[Query]:
    return [replace(query, project=reads(loaded, tenant).project) for query in workload.questions]


def numbers(matches: list[Match]) -> list[int]:
    return [match.number for match in matches]


@pytest.mark.parametrize("tenant", list(Tenant), ids=lambda tenant: tenant.name)
def test_answers_have_k_different_rows_that_the_tenant_may_see_and_the_nearest(
    loaded: Opened, client: Any, workload: Workload, tenant: Tenant
) -> None:
    seen = set(workload.rows(searched(loaded, tenant)).tolist())
    truth = nearest(workload, 10, searched(loaded, tenant), K)
    judge = _judge(loaded[1], workload, lambda _: truth, reads(loaded, tenant))
    shares = []
    for place, query in enumerate(asked(loaded, workload, tenant)[:10]):
        near = numbers(client.nearest(query, K))
        shares.append(judge(place, near) or 0.0)
        for found in (numbers(client.ask(query, K)), near):
            assert len(found) == len(set(found)) == K
            assert set(found) <= seen
    assert sum(shares) / len(shares) >= (0.9 if loaded[0].kind.approximate else 1.0)


@pytest.mark.parametrize(("stored", "width"), [(1024, 1024), (0, 384)])
def test_vectors_are_filled_up_only_where_the_version_stores_one_width(stored: int, width: int) -> None:
    form = Form(stored, (), passages=True)
    assert form.vector(np.ones(384, np.float32)).shape == (width,)
    assert form.vector(np.ones((2, 384), np.float32)).shape == (2, width)


def test_a_server_tells_the_size_of_its_catalogue(loaded: Opened) -> None:
    one, system = loaded
    found = system.catalogue()
    assert bool(found) == one.kind.postgres
    if found:
        assert found["relations"] > 400
        assert found["bytes"] > 5_000_000


def test_a_sweep_of_ef_search_reaches_the_index_of_chroma(loaded: Opened, workload: Workload) -> None:
    if loaded[0].name != "chroma":
        pytest.skip("the other systems set it on the connection")
    truth = nearest(workload, 20, None, K)
    shares = []
    for ef_search in (K, 400):
        with closing(loaded[1].client({"ef_search": str(ef_search)})) as client:
            found = (numbers(client.nearest(query, K)) for query in workload.questions[:20])
            shares.append(sum(truth.recall(place, one, workload) for place, one in enumerate(found)))
    assert shares[0] < shares[1]


@pytest.mark.parametrize(("failures", "answered"), [(0, True), (3, True), (4, False)])
def test_a_query_that_chroma_fails_beside_a_writer_is_asked_again(
    workload: Workload, failures: int, answered: bool
) -> None:
    internal_error = pytest.importorskip("chromadb.errors").InternalError
    told: list[Any] = [internal_error("Error finding id")] * failures
    told += [{"ids": [["7"]], "distances": [[0.25]]}]
    client = chroma.Client(Mock(**{"query.side_effect": told}))
    if answered:
        assert client.ask(workload.questions[0], 1) == [Match(7, 0.75)]
    else:
        with pytest.raises(internal_error, match="Error finding id"):
            client.ask(workload.questions[0], 1)


def test_plans_show_the_call_and_count_its_functions(loaded: Opened, workload: Workload) -> None:
    one, system = loaded
    assert isinstance(system, System)
    if not isinstance(system, Planned):
        assert not one.kind.versions
        return
    queries = asked(loaded, workload, Tenant.WHOLE)[:5]
    told = system.plans(queries, K)
    assert "Function Scan on pgmnemo.recall_lessons" in told or "Function Scan on recall_lessons" in told
    assert "Buffers: shared" in told
    assert "Execution Time: " in told
    assert "| `recall_lessons`" in told
    assert any(query.text in told for query in queries)
