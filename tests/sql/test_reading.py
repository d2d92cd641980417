"""Lessons are read by key, in pages and in numbers, and a filter means the same wherever it is given."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

START = datetime(2026, 1, 1, tzinfo=UTC)
VALUES = ["de", "en", "", "a.b", "7", 7, 7.0, 2.5, -3, 1e20, True, False, None]
KEYS = ["lang", "size", "and", "a.b", "", "naïve", 'quo"te', "tags"]
PATHS = ["lang", "size", ".and", "sub.lang", "sub.sub.size", "tags", "sub.tags", "naïve", 'quo"te', "a.b"]
OPERATORS = ["eq", "ne", "in", "gt", "gte", "lt", "lte", "prefix", "exists"]


def get(tenant: Any, key: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = tenant.rows(
        "SELECT external_id, active, metadata FROM pgmnemo.get(NULL, %s, %s)", tenant.project, key
    )
    return rows


def listed(tenant: Any, filter: Any = None, **options: object) -> list[str]:
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT external_id FROM pgmnemo.list(NULL, %s, %s::jsonb{names})"
    rows = tenant.rows(
        query, tenant.project, None if filter is None else json.dumps(filter), *options.values()
    )
    return [row[0] for row in rows]


def counted(tenant: Any, filter: Any = None, **options: object) -> tuple[int, int]:
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT * FROM pgmnemo.count(NULL, %s, %s::jsonb{names})"
    rows = tenant.rows(
        query, tenant.project, None if filter is None else json.dumps(filter), *options.values()
    )
    found: tuple[int, int] = rows[0]
    return found


def forgotten(tenant: Any, filter: Any, **options: object) -> int:
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT pgmnemo.forget_matching(NULL, %s::jsonb, %s{names})"
    return int(tenant.value(query, json.dumps(filter), tenant.project, *options.values()))


@pytest.fixture
def states(tenant: Any) -> Any:
    """One lesson in each state: all but `plain` and `proven` are out of recall, `bare` by the gate alone."""
    for key in ("plain", "proven", "old", "expired", "gone"):
        tenant.store(key, f"the {key} river", commit_sha="c0ffee", topic="river", occurred_at=START)
    tenant.store("bare", "the bare river", topic="river", occurred_at=START)
    tenant.value("SELECT pgmnemo.supersede(NULL, %s, 'old', 'plain')", tenant.project)
    tenant.value("SELECT pgmnemo.update(NULL, %s, 'expired', expires_at => %s)", tenant.project, START)
    tenant.value("SELECT pgmnemo.forget(%s, %s, 'gone')", tenant.id, tenant.project)
    tenant.set(gate_strict="enforce")
    return tenant


def test_a_key_is_read_whatever_the_state_of_its_lesson(states: Any) -> None:
    for key in ("plain", "proven", "old", "expired", "bare", "gone"):
        assert get(states, key) == [(key, key != "gone", {})]
    assert get(states, "none") == []


@pytest.mark.parametrize(
    "filter", [None, {"topic": "river"}, {"topic_prefix": "riv"}, {"since": "2026-01-01"}]
)
def test_pages_and_counts_are_of_what_a_recall_could_answer_with(states: Any, filter: Any) -> None:
    everything = ["plain", "proven", "old", "expired", "gone", "bare"]
    now = ["plain", "proven"]
    assert listed(states, filter) == now
    assert sorted(states.ids("river", filter=filter and json.dumps(filter))) == now
    assert counted(states, filter) == (2, 1)
    assert listed(states, filter, everything=True) == everything
    assert counted(states, filter, everything=True) == (6, 0)
    assert listed(states, filter, valid_at=START - timedelta(days=1)) == []
    assert listed(states, filter, known_at=START) == []
    states.set(gate_strict="warn")
    assert listed(states, filter) == [*now, "bare"]
    assert counted(states, filter) == (3, 0)


@pytest.mark.parametrize("filter", [None, {"topic": "river"}])
def test_an_answer_that_only_the_gate_empties_is_an_error(tenant: Any, filter: Any) -> None:
    tenant.store("bare", "the river", topic="river")
    tenant.set(gate_strict="enforce")
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="hides all lessons in scope"):
        listed(tenant, filter)
    assert listed(tenant, filter, after=0) == []  # no first page
    assert counted(tenant, filter) == (0, 1)


def test_a_project_a_tenant_and_a_set_of_projects(tenant: Any, make_tenant: Any) -> None:
    other, second, third = make_tenant(), *(str(make_tenant().project) for _ in range(2))
    for number, project in enumerate((str(tenant.project), second, third)):
        tenant.store(f"k{number}", "the river", project_id=project)
        other.store(f"k{number}", "the otter", project_id=project)
    query = "SELECT external_id FROM pgmnemo.list(%s, %s, %s::jsonb)"
    some = json.dumps({"projects": [second, third]})
    assert tenant.rows(query, None, None, None) == [("k0",), ("k1",), ("k2",)]
    assert tenant.rows(query, tenant.id, second, None) == tenant.rows(query, None, second, some) == [("k1",)]
    assert tenant.rows(query, None, None, some) == [("k1",), ("k2",)]
    with pytest.raises(errors.InvalidParameterValue, match="'projects' does not hold project_id"):
        tenant.rows(query, None, tenant.project, some)
    assert tenant.value("SELECT pgmnemo.forget_matching(NULL, %s)", some) == 2
    assert other.rows("SELECT * FROM pgmnemo.count(NULL)") == [(3, 0)]


# What a filter means, in plain Python.


def at(document: Any, path: list[str]) -> list[Any]:
    """What stands there; a list counts as each of its elements."""
    if not path:
        return [document]
    parts = document if isinstance(document, list) else [document]
    return [found for part in parts if isinstance(part, dict) and path[0] in part
            for found in at(part[path[0]], path[1:])]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    return bool(one == other)


def alike(one: Any, other: Any) -> bool:
    """Whether they can be ordered."""
    kinds = [str if isinstance(value, str) else float if isinstance(value, (int, float)) else None
             for value in (one, other) if not isinstance(value, bool)]  # fmt: skip
    return len(kinds) == 2 and kinds[0] is kinds[1] is not None


def holds(operator: str, values: list[Any], given: Any) -> bool:
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    if operator == "exists":
        return bool(values) is given
    if operator == "ne":
        return not any(same(value, given) for value in flat)
    tests = {
        "eq": lambda value: same(value, given),
        "in": lambda value: any(same(value, one) for one in given),
        "gt": lambda value: alike(value, given) and value > given,
        "gte": lambda value: alike(value, given) and value >= given,
        "lt": lambda value: alike(value, given) and value < given,
        "lte": lambda value: alike(value, given) and value <= given,
        "prefix": lambda value: isinstance(value, str) and value.startswith(given),
    }
    return any(map(tests[operator], flat))


def within(part: Any, whole: Any) -> bool:
    """jsonb's @>, below the top."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(within(one, other) for other in whole) for one in part)
    return not isinstance(whole, (dict, list)) and same(part, whole)


def matches(metadata: Any, conditions: dict[str, Any]) -> bool:
    def one(key: str, value: Any) -> bool:
        if key == "and":
            return all(matches(metadata, part) for part in value)
        if key == "or":
            return any(matches(metadata, part) for part in value)
        if key == "not":
            return not matches(metadata, value)
        if key == "contains":
            return within(value, metadata)
        found = at(metadata, key.lstrip(".").split("."))
        operators = value if isinstance(value, dict) else {"eq": value}
        return all(holds(operator, found, given) for operator, given in operators.items())

    return all(one(key, value) for key, value in conditions.items())


def document(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    def value() -> Any:
        chance = rng.random()
        if chance < 0.2:
            return [
                rng.choice(VALUES) if rng.random() < 0.8 else {"lang": "de"} for _ in range(rng.randrange(4))
            ]
        return rng.choice(VALUES)

    found = {key: value() for key in rng.sample(KEYS, rng.randrange(5))}
    if depth < 2 and rng.random() < 0.6:
        found["sub"] = document(rng, depth + 1)
    return found


def conditions(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in rng.sample(PATHS, rng.choice([1, 1, 2]) if depth else rng.choice([0, 1, 1, 2])):
        operator = rng.choice([None, *OPERATORS])
        if operator is None:
            found[path] = rng.choice(VALUES)
            continue
        given = rng.choice(VALUES if operator in ("eq", "ne") else ["de", "7", "", 7, 2.5, -3, 1e20])
        if operator == "in":
            given = [rng.choice(VALUES) for _ in range(3)]
        elif operator in ("exists", "prefix"):
            given = rng.random() < 0.5 if operator == "exists" else rng.choice(["", "d", "a."])
        found[path] = {operator: given}
    if depth < 2 and (not found or rng.random() < 0.4):
        word = rng.choice(["and", "or", "not"])
        parts = [conditions(rng, depth + 1) for _ in range(2)]
        found[word] = parts[0] if word == "not" else parts
    return found


def test_a_filter_means_in_every_verb_what_it_means_in_plain_python(tenant: Any) -> None:
    rng = random.Random(20260501)
    documents = {f"k{n:03}": document(rng) for n in range(150)}
    for key, metadata in documents.items():
        tenant.store(key, f"river {key}", metadata=json.dumps(metadata))
    partly = 0
    for _ in range(250):
        asked = conditions(rng)
        if rng.random() < 0.3:
            whole = rng.choice([metadata for metadata in documents.values() if metadata])
            asked["contains"] = dict([rng.choice([*whole.items()])])
        filter = {"metadata": asked}
        wanted = [key for key, metadata in documents.items() if matches(metadata, asked)]
        assert listed(tenant, filter, most=1000) == wanted, asked
        assert counted(tenant, filter) == (len(wanted), 0), asked
        assert sorted(tenant.ids("river", k=200, filter=json.dumps(filter))) == wanted, asked
        assert forgotten(tenant, filter, dry_run=True) == len(wanted), asked
        partly += 0 < len(wanted) < len(documents)
    assert partly > 100


def nested(depth: int, word: str = "not") -> dict[str, Any]:
    return {"metadata": {word: nested(depth - 1, word)["metadata"]}} if depth else {"metadata": {"a": 1}}


def met(*conditions: Any) -> list[Any]:
    """Filters that ask such things of metadata."""
    return [{"metadata": one} for one in conditions]


REFUSED: dict[str, list[Any]] = {
    "it must be an object": [[], "x", 1],
    "it has no key 'colour'": [{"colour": "red"}],
    "'(topic|role)' must be a text or a list of 1 to 1000 texts": [
        {"topic": 1}, {"topic": None}, {"topic": []}, {"topic": ["x"] * 1001}, {"role": [None]}],
    "'topic_prefix' must be a text that is not empty": [{"topic_prefix": ""}, {"topic_prefix": 1}],
    "'projects' must be uuids": [{"projects": "x"}],
    "'(since|until)' must be a date": [
        {"since": "yesterday"}, {"since": "2026-01-01T00:00"}, {"since": "infinity"}, {"since": "2026-02-30"},
        {"until": 5}],
    "must be after 'since'": [{"since": "2026-01-02", "until": "2026-01-02"}],
    "metadata must be an object with a condition in it": met({}, None, [], {"or": [{}]}, {"not": []}),
    "has an empty key": met({"": 1}, {"..": 1}),
    "contains must be an object with something in it": met({"contains": {}}, {"contains": 1}),
    "contains stands within and, or or not": met({"not": {"contains": {"a": 1}}}),
    "must be compared with": met({"a": {}}, {"a": [1]}, {"a": {"in": [[1]]}}),
    "no operator 'like'": met({"a": {"like": "x"}}),
    "in must be a list of 1 to 100 values": met({"a": {"in": []}}, {"a": {"in": "x"}}),
    "must be a number or a text": met({"a": {"gt": None}}, {"a": {"lt": [1]}}, {"a": {"gte": True}}),
    "exists must be true or false": met({"a": {"exists": 1}}),
    "prefix must be a text": met({"a": {"prefix": 1}}),
    "must be a list of conditions": met({"and": []}, {"or": {}}),
    "more than 8 deep": [nested(9)],
    "compares 201 values": met({f"k{n}": n for n in range(201)}),
    "too many digits": met({"a": 10**400}),
    "bytes, but may have 20000": met({"x" * 30000: 1}, {"contains": {"a": ["x"] * 5000}}),
}  # fmt: skip


@pytest.mark.parametrize("told", REFUSED)
def test_a_filter_that_says_nothing_definite_is_an_error(tenant: Any, told: str) -> None:
    tenant.store("a", "river", metadata='{"a": 1}', topic="t")
    for filter in REFUSED[told]:
        for call in (listed, counted, forgotten):
            with pytest.raises(errors.InvalidParameterValue, match=f"filter: .*{told}") as error:
                call(tenant, filter)
            assert error.value.diag.message_hint
    assert listed(tenant) == ["a"]


@pytest.mark.parametrize("filter", [
    {"metadata": {"contains": {"a": json.loads("[" * 900 + "1" + "]" * 900)}}},
    {"metadata": {"and": [{f"k{n}": {"ne": n}} for n in range(200)]}},
    {"metadata": {f"k{n}": n for n in range(200)}},
    {"metadata": {".".join("a" * 5000): 1}},
    {"metadata": {'") || true || exists ($."': {"prefix": '") || true'}}},
    {"metadata": {"a": '" || 1 == 1'}}, {"topic": "' OR true --"}, {"topic_prefix": "%"},
    {"role": ["\\", "_"]},
    nested(8), {"metadata": {"a": {"lt": -(10**300)}}},
])  # fmt: skip
def test_a_filter_is_never_more_than_it_says(tenant: Any, filter: Any) -> None:
    """However deep, long or like code it is."""
    tenant.store("a", "river", metadata='{"a": 1}', topic="t", role="r")
    wanted = ["a"] if filter == nested(8) or "and" in filter.get("metadata", {}) else []
    assert listed(tenant, filter) == tenant.ids("river", filter=json.dumps(filter)) == wanted
    assert forgotten(tenant, filter, dry_run=True) == len(wanted)


def test_the_limit_of_a_filter_holds_for_one_that_is_kept_compressed(tenant: Any) -> None:
    with tenant.client.transaction():
        tenant.client.execute("CREATE TEMPORARY TABLE kept (asked jsonb) ON COMMIT DROP")
        tenant.client.execute("INSERT INTO kept SELECT jsonb_build_object('topic', repeat('x', 100000))")
        with (
            pytest.raises(errors.InvalidParameterValue, match="bytes, but may have"),
            tenant.client.transaction(),
        ):
            tenant.rows("SELECT count(*) FROM kept, pgmnemo.list(NULL, filter => asked)")


@pytest.mark.parametrize(("call", "told"), [
    ("list(NULL, most => 0)", "most is 0, but must be from 1 to 10000"),
    ("list(NULL, most => NULL)", "most is NULL"),
    ("list(NULL, everything => true, known_at => now())", "everything stands with"),
    ("count(NULL, everything => true, valid_at => now())", "everything stands with"),
])  # fmt: skip
def test_what_cannot_be_listed_is_said(tenant: Any, call: str, told: str) -> None:
    with pytest.raises(errors.InvalidParameterValue, match=told) as error:
        tenant.rows(f"SELECT * FROM pgmnemo.{call}")
    assert error.value.diag.message_hint


COLLATED = [
    "get(NULL, {p}, 'a' {c})",
    "update(NULL, {p}, 'a' {c}, topic => 'x' {c}, role => 'y' {c}, clear => ARRAY['position' {c}])",
    "append(NULL, {p}, 'river' {c}, topic => 'x' {c}, prefix => 'y' {c})",
]


@pytest.mark.parametrize("call", COLLATED)
def test_a_text_of_another_collation_is_taken(tenant: Any, call: str) -> None:
    tenant.store("a", "river")
    said = call.format(p=f"'{tenant.project}'", c='COLLATE "POSIX"')
    assert len(tenant.rows(f"SELECT * FROM pgmnemo.{said}")) == 1


def test_one_of_a_thousand_is_read_at_once(tenant: Any) -> None:
    """By the key, whatever the statistics say, and though the plan was made while the table was small."""
    assert get(tenant, "k0") == []
    tenant.store_many({f"k{n}": f"number {n}" for n in range(1000)})
    before = hits(tenant)
    assert len(get(tenant, "k777")) == 1
    assert 0 < hits(tenant) - before < 30
    assert len(listed(tenant, most=10)) == 10
    assert hits(tenant) - before < 300


def hits(tenant: Any) -> int:
    """Pages of tables and indexes of lessons that this session has read."""
    tenant.client.execute("SELECT pg_stat_force_next_flush()")
    return int(
        tenant.value(
            "SELECT sum(heap_blks_hit + idx_blks_hit) FROM pg_statio_all_tables WHERE relname = 'lesson'"
        )
    )


def test_a_topic_is_found_however_long_or_strange(tenant: Any) -> None:
    """An index holds no long ones, and no text comes after the last character but itself."""
    long = " ".join(f"{n:x}" for n in range(1000))
    strange = "q" + chr(0x10FFFF) + "z"
    for key, topic in (("long", long), ("strange", strange), ("other", "r")):
        tenant.store(key, key, topic=topic)
    assert listed(tenant, {"topic": long}) == listed(tenant, {"topic_prefix": long[:600]}) == ["long"]
    assert (
        listed(tenant, {"topic_prefix": "q"}) == listed(tenant, {"topic_prefix": strange[:2]}) == ["strange"]
    )
    assert listed(tenant, {"topic_prefix": "r"}) == ["other"]
