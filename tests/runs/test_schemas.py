"""The published JSON Schemas."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from runner.protocol.editions import current
from runner.runs.schemas import SCHEMAS, known_versions, schema_fault

LINE = {
    "question": "q", "type": "t", "arm": "a", "scope": "s", "project": "p", "size": 2, "gold": ["x"],
    "ranking": [["x", 0.5, [0.1, 0.2, None, 0.0, 0.0]], ["y", 0.25]],
}  # fmt: skip


def test_every_machine_readable_artefact_has_its_schema() -> None:
    named = msgspec.structs.asdict(current().schemas)
    assert named.pop("report").startswith("pgmnemo/report/")
    assert set(named.values()) <= set(SCHEMAS)
    assert all(named[kind] in known_versions(kind) for kind in named)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_says_what_it_is(name: str) -> None:
    schema = json.loads(Path(SCHEMAS[name]).read_text(encoding="utf-8"))
    _, kind, version = name.split("/")
    assert schema["$id"] == f"urn:pgmnemo:{kind}:{version}"
    assert schema["title"]
    assert schema["description"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) - set(schema["required"]) == set(schema.get("dependencies", ()))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"size": "2"}, "data.size must be integer"),
        ({"size": True}, "data.size must be integer"),
        ({"gold": []}, "data.gold must contain at least 1 items"),
        ({"ranking": [["x"]]}, r"data.ranking\[0\] must contain at least 2 items"),
        ({"ranking": [["x", 1.0, []]]}, r"must contain at least 1 items"),
        ({"ranking": [7]}, r"must be string or array"),
        ({"seconds": 1}, "must not contain"),
    ],
)
def test_what_is_not_of_a_schema_is_told(change: dict[str, object], sentence: str) -> None:
    assert schema_fault("pgmnemo/raw/4", LINE) is None
    told = schema_fault("pgmnemo/raw/4", {**LINE, **change})
    assert told is not None
    assert re.search(sentence, told)
