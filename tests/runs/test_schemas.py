"""The published JSON Schemas."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from runner.editions import edition
from runner.editions import known as editions
from runner.errors import UsageError
from runner.runs.schemas import SCHEMAS, fault, known

LINE = {
    "question": "q", "type": "t", "arm": "a", "scope": "s", "project": "p", "size": 2, "gold": ["x"],
    "ranking": [["x", 0.5, [0.1, 0.2, None, 0.0, 0.0]], ["y", 0.25]],
}  # fmt: skip


@pytest.mark.parametrize("version", editions())
def test_every_machine_readable_artefact_has_its_schema(version: str) -> None:
    named = msgspec.structs.asdict(edition(version).schemas)
    template = named.pop("report")
    assert template.startswith("pgmnemo/report/")
    for added in ("reranks", "rewrites"):  # before 1.5.0 and 1.6.0 no run had any
        if not named[added]:
            del named[added]
    assert set(named.values()) <= set(SCHEMAS)
    assert all(named[kind] in known(kind) for kind in named)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_says_what_it_is(name: str) -> None:
    schema = json.loads(Path(SCHEMAS[name]).read_text(encoding="utf-8"))
    _, kind, version = name.split("/")
    assert schema["$id"] == f"urn:pgmnemo:{kind}:{version}"
    assert schema["title"]
    assert schema["description"]
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(schema["properties"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"size": "2"}, "data.size must be integer"),
        ({"size": True}, "data.size must be integer"),
        ({"gold": []}, "data.gold must contain at least 1 items"),
        ({"ranking": [["x"]]}, r"data.ranking\[0\] must contain at least 2 items"),
        ({"ranking": [["x", 1.0, [0.0]]]}, r"must contain at least 5 items"),
        ({"ranking": [7]}, r"must be string or array"),
        ({"seconds": 1}, "must not contain"),
    ],
)
def test_what_is_not_of_a_schema_is_told(change: dict[str, object], sentence: str) -> None:
    assert fault("pgmnemo/raw/1", LINE) is None
    told = fault("pgmnemo/raw/1", {**LINE, **change})
    assert told is not None
    assert re.search(sentence, told)


def test_an_unknown_schema_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no schema named 'pgmnemo/raw/9'; choose one of: pgmnemo/answers/1"):
        fault("pgmnemo/raw/9", {})
    assert known("raw") == ["pgmnemo/raw/1", "pgmnemo/raw/2", "pgmnemo/raw/3"]


def test_since_version_2_an_engine_may_have_any_number_of_components() -> None:
    ten = {**LINE, "ranking": [["x", 0.5, [0.1] * 10]]}
    assert fault("pgmnemo/raw/1", ten) is not None
    assert fault("pgmnemo/raw/2", ten) is None
    assert fault("pgmnemo/raw/2", {**LINE, "ranking": [["x", 0.5, []]]}) is not None
