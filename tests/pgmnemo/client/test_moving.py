"""Scopes written out and read in elsewhere: into other tenants, other projects, other embedders, twice."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Item
from pgmnemo.errors import UsageError
from pgmnemo.progress import Progress
from tests.pgmnemo.client.driving import Place, Shell
from tests.pgmnemo.client.test_embedders import Model, counted

pytestmark = pytest.mark.filterwarnings("ignore::pgmnemo.errors.ForeignProjectWarning")
DAY = datetime(2024, 5, 8, tzinfo=UTC)


def written(scope: Any, **given: Any) -> bytes:
    file = io.BytesIO()
    scope.export(file, **given)
    return file.getvalue()


def lines(data: bytes, kind: str = "lesson") -> list[dict[str, Any]]:
    found = map(json.loads, data.splitlines())
    return [line for line in found if line.get("kind") == kind]


@pytest.fixture
def tenant(memory: Any, place: Place) -> Any:
    """Two projects with a lesson of one key in each."""
    made = memory.tenant(place.tenant())
    made.project("a").add_many([Item("The kettle of a.", "k", at=DAY), Item("A violin.", "violin")])
    made.project("b").add_many([Item("The kettle of b.", "k")])
    return made


def test_a_file_is_written_and_read_by_its_path(
    tenant: Any, memory: Any, place: Place, tmp_path: Path
) -> None:
    path = tmp_path / "memory.jsonl"
    assert tenant.export(path) == 3
    assert path.stat().st_mode & 0o777 == 0o600  # what somebody remembers is for nobody else to read
    other = memory.tenant(place.tenant())
    assert other.import_(str(path)).outcomes == {"inserted": 3}
    with gzip.open(tmp_path / "memory.gz", "wb") as packed:
        assert tenant.export(packed) == 3
    with gzip.open(tmp_path / "memory.gz", "rb") as packed:
        assert other.import_(packed).outcomes == {"unchanged": 3}


def test_a_project_alone_is_written_and_goes_into_any(tenant: Any, memory: Any, place: Place) -> None:
    data = written(tenant.project("a"))
    assert [line["key"] for line in lines(data)] == ["k", "violin"]
    other = memory.tenant(place.tenant())
    assert other.project("elsewhere").import_(io.BytesIO(data)).lessons == 2
    assert other.project("elsewhere").get("k").text == "The kettle of a."
    assert other.import_(io.BytesIO(data)).outcomes == {"inserted": 2}
    assert {one.project for one in other.list()} == {
        tenant.project("a").project_id, other.project("elsewhere").project_id}  # fmt: skip


def test_the_language_of_a_tenant_goes_along_where_there_is_none(
    tenant: Any, memory: Any, place: Place
) -> None:
    tenant.language("auto:de")
    whole, part = written(tenant), written(tenant.project("a"))
    new, own, into = (memory.tenant(place.tenant()) for _ in range(3))
    own.language("fr")
    new.import_(io.BytesIO(whole), dry_run=True)
    assert new.language() == "auto"
    for target in (new, own, into.project("p")):
        target.import_(io.BytesIO(part if target is not new else whole))
    assert [one.language() for one in (new, own, into)] == ["auto:german", "french", "auto"]


def test_two_lessons_of_one_key_do_not_become_one(tenant: Any, memory: Any, place: Place) -> None:
    scope = memory.tenant(place.tenant()).project("one")
    with pytest.raises(UsageError, match="a lesson 'k' in each of two projects; import it into the tenant"):
        scope.import_(io.BytesIO(written(tenant)))


def test_what_leads_out_of_a_project_stays_behind(tenant: Any, memory: Any, place: Place) -> None:
    a, b = tenant.project("a"), tenant.project("b")
    with place.connect() as root:
        root.execute("SET pgmnemo.gate_strict = off; SET pgmnemo.bypass_notice = off")
        ids = (tenant.tenant_id, a.project_id)
        ends = "SELECT pgmnemo.supersede(%s, %s, 'k', 'k', at => %s, new_project => %s)"
        root.execute(ends, (*ids, DAY, b.project_id))
        link = "SELECT pgmnemo.link(%s, %s, 'violin', 'k', 'r', target_project => %s)"
        root.execute(link, (*ids, b.project_id))
    whole, part = written(tenant), written(a)
    assert [line["new"] for line in lines(whole, "supersession")] == ["k"]
    assert len(lines(whole, "link")) == 1
    assert [line["new"] for line in lines(part, "supersession")] == [None]
    assert lines(part, "link") == []
    other, third = memory.tenant(place.tenant()), memory.tenant(place.tenant())
    assert other.import_(io.BytesIO(whole)).links == 1
    assert [step.key for step in other.project(a.project_id).timeline("k")] == ["k", "k"]
    third.import_(io.BytesIO(part))
    assert third.project(a.project_id).get("k").superseded_at == DAY


def test_vectors_go_along_where_the_embedder_is_the_same_or_none(shell: Shell, place: Place) -> None:
    asked: list[str] = []

    def noted(texts: list[str]) -> Any:
        asked.extend(texts)
        return counted(texts)

    source = shell.open(place.dsn(), embedder=noted).tenant(place.tenant()).project("p")
    source.add("user: The kettle.\nassistant: A violin?\nuser: No, a lantern.", key="k")
    data = written(source)
    assert [len(line["passage_vectors"]) for line in lines(data)] == [2]
    for embedder in (noted, None):
        asked.clear()
        target = shell.open(place.dsn(), embedder=embedder).tenant(place.tenant()).project("p")
        assert target.import_(io.BytesIO(data)).outcomes == {"inserted": 1}
        assert asked == []
        assert lines(written(target))[0]["passage_vectors"] == lines(data)[0]["passage_vectors"]
        assert target.stats().embedder == source.stats().embedder
    other = shell.open(place.dsn(), embedder=Model()).tenant(place.tenant()).project("p")
    assert other.import_(io.BytesIO(data)).outcomes == {"inserted": 1}
    assert (other.stats().embedder, other.recall("kettle", mode="vector")[0].key) == ("Model", "k")
    assert lines(written(other))[0]["passage_vectors"] == lines(data)[0]["passage_vectors"]
    bare = written(source, vectors=False)
    assert [(line["vector"], line["passage_vectors"]) for line in lines(bare)] == [(None, None)]


def test_an_import_into_vectors_of_another_embedder_is_refused(shell: Shell, place: Place) -> None:
    source = shell.open(place.dsn(), embedder=counted).tenant(place.tenant()).project("p")
    source.add("x", key="k")
    target = shell.open(place.dsn()).tenant(place.tenant()).project("p")
    target.add("y", vector=[1.0, 2.0])
    with pytest.raises(UsageError, match="their vectors cannot be compared"):
        target.import_(io.BytesIO(written(source)))
    assert target.count().lessons == 1


def test_progress_is_told(scope: Any, memory: Any, place: Place) -> None:
    told: list[tuple[str, int]] = []

    class Told(Progress):
        def track(self, items: Any, label: str, total: Any = None, **_: Any) -> Any:
            for number, item in enumerate(items, start=1):
                told.append((label, number))
                yield item

    progress = Told()
    scope.add_many([f"note {number}" for number in range(5)], batch=2, progress=progress)
    file = io.BytesIO()
    scope.export(file, progress=progress)
    memory.tenant(place.tenant()).import_(io.BytesIO(file.getvalue()), progress=progress)
    assert [label for label, number in told if number == 1] == [
        "batches of lessons", "lessons", "batches of lines"]  # fmt: skip
    assert ("batches of lessons", 3) in told
    assert ("lessons", 5) in told
