"""Every installed system loads the corpus, keeps tenants apart, finds the nearest, takes new lessons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from unittest.mock import Mock

import pytest

from runner.database.releases import SQL_FOLDER
from runner.perf.exact import nearest
from runner.perf.measurement import _judge
from runner.perf.plans import STATEMENTS
from runner.perf.systems import KINDS, Client, Kind, Place, System, missing
from runner.perf.systems.chroma import ChromaClient
from runner.perf.workload import Asked, Tenant, Workload
from runner.progress import QUIET
from runner.protocol.required import release

K = 10
pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")
VERSIONS = {"pgmnemo": ("0.2.1", "0.3.1"), "pgmnemo-passages": ("0.3.1",)}
CASES = [(name, version) for name in KINDS for version in VERSIONS.get(name, ("0.2.1",))]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def loaded(
    request: pytest.FixtureRequest, workload: Workload, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Kind, System]]:
    name, version = request.param
    if sentence := missing(KINDS[name], version):
        pytest.skip(sentence)
    if not (SQL_FOLDER / f"pgmnemo--{version}.sql").exists():
        pytest.skip(f"there is no release {version} yet")
    with KINDS[name].open(Place(tmp_path_factory.mktemp(name), version, SQL_FOLDER)) as system:
        seconds = system.load(workload, QUIET)
        assert all(value >= 0 for value in seconds.values())
        yield KINDS[name], system


@pytest.fixture
def client(loaded: tuple[Kind, System]) -> Iterator[Client]:
    with closing(loaded[1].client()) as client:
        yield client


@pytest.mark.parametrize("tenant", list(Tenant), ids=lambda tenant: tenant.name)
def test_answers_have_k_different_rows_that_the_tenant_may_see(
    loaded: tuple[Kind, System], client: Client, workload: Workload, tenant: Tenant
) -> None:
    seen = set(workload.rows(loaded[1].searched(tenant)).tolist())
    for asked in workload.questions[:5]:
        for found in (client.query(asked, tenant, K), client.nearest(asked, tenant, K)):
            assert len(found) == len(set(found)) == K
            assert set(found) <= seen


@pytest.mark.parametrize("tenant", list(Tenant), ids=lambda tenant: tenant.name)
def test_the_vector_leg_finds_the_nearest(
    loaded: tuple[Kind, System], client: Client, workload: Workload, tenant: Tenant
) -> None:
    truth = nearest(workload, 10, loaded[1].searched(tenant), K)
    judge = _judge(loaded[1], workload, lambda _: truth, tenant, K)
    asked = enumerate(workload.questions[:10])
    shares = [judge(place, client.nearest(one, tenant, K)) or 0.0 for place, one in asked]
    least = 0.9 if loaded[0].approximate else 1.0
    assert sum(shares) / len(shares) >= least


def test_a_hybrid_finds_by_words_what_vectors_do_not(
    loaded: tuple[Kind, System], client: Client, workload: Workload
) -> None:
    if not loaded[0].hybrid:
        pytest.skip("it has no keywords")
    lesson = workload.lesson(int(workload.rows(Tenant.WHOLE)[5]))
    far = Asked(lesson.text[: lesson.cut], -lesson.vector)
    assert lesson.number in client.query(far, Tenant.WHOLE, K)


def test_an_added_lesson_is_found_at_once_by_another_client_and_only_by_its_tenant(
    loaded: tuple[Kind, System], client: Client, workload: Workload
) -> None:
    lesson = next(one for one in workload.spare() if one.tenant is Tenant.SHARE)
    client.add(lesson)
    asked = Asked(lesson.text, lesson.vector)
    with closing(loaded[1].client()) as other:
        assert other.query(asked, Tenant.SHARE, K)[0] == lesson.number
        assert lesson.number not in other.query(asked, Tenant.FIXED, K)


def test_sizes_and_facts_are_told(loaded: tuple[Kind, System], workload: Workload) -> None:
    sizes = loaded[1].sizes()
    assert sum(sizes.values()) > workload.count * 384 * 2
    assert all(loaded[1].facts().values())


def test_a_sweep_of_ef_search_reaches_the_index_of_chroma(
    loaded: tuple[Kind, System], workload: Workload
) -> None:
    if loaded[0].packages != ("chromadb",):
        pytest.skip("the other systems set it on the connection")
    truth = nearest(workload, 20, None, K)
    shares = []
    for ef_search in (K, 400):
        with closing(loaded[1].client(ef_search)) as client:
            found = (client.nearest(asked, Tenant.WHOLE, K) for asked in workload.questions[:20])
            shares.append(sum(truth.recall(place, one, workload) for place, one in enumerate(found)))
    assert shares[0] < shares[1]


@pytest.mark.parametrize(("failures", "answered"), [(0, True), (3, True), (4, False)])
def test_a_query_that_chroma_fails_beside_a_writer_is_asked_again(
    workload: Workload, failures: int, answered: bool
) -> None:
    internal_error = pytest.importorskip("chromadb.errors").InternalError
    told: list[Any] = [internal_error("Error finding id")] * failures + [{"ids": [["7"]]}]
    client = ChromaClient(Mock(**{"query.side_effect": told}))
    if answered:
        assert client.query(workload.questions[0], Tenant.WHOLE, 1) == [7]
    else:
        with pytest.raises(internal_error, match="Error finding id"):
            client.query(workload.questions[0], Tenant.WHOLE, 1)


def test_plans_are_those_of_the_functions_own_statements(
    loaded: tuple[Kind, System], workload: Workload
) -> None:
    told = loaded[1].plans(workload.questions[:5], K)
    version = loaded[1].facts().get("pgmnemo", "")
    if release(version) < (0, 3):
        assert told == ""
        return
    script = (SQL_FOLDER / f"pgmnemo--{version}.sql").read_text(encoding="utf-8")
    statements = told.split("```sql\n")[1:]
    assert len(statements) == len(STATEMENTS)
    for statement in statements:
        text, plan = statement.split("\n```\n", 1)
        assert all(line in script for line in text.split("\n")[1:])
        assert "Buffers: shared" in plan
        assert "Execution Time: " in plan
    assert any(text in told for text in (asked.text for asked in workload.questions[:5]))
