"""Each committed document of an older schema reads into a record that holds every fact of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import runner
from runner.records import Json
from runner.runs.former import brought_up
from runner.runs.reading import Results
from runner.runs.run import Run

ROOT = Path(runner.__file__).parents[1]
FORMER = [
    path.parent
    for path in sorted(ROOT.glob("benchmarks/*/results/*/run.json"))
    if json.loads(path.read_bytes())["schema"] in ("pgmnemo/run/1", "pgmnemo/run/2")
]
ELSEWHERE = {
    "schema",
    "pgmnemo_version",
    "corpus",
    "options",
    "arms",
    "protocol",
}  # under other names, or more


def identify(folder: Path) -> str:
    return f"{folder.parents[1].name}/{folder.name}"


@pytest.fixture(params=FORMER, ids=identify)
def results(request: pytest.FixtureRequest) -> Results:
    return Results(request.param)


@pytest.fixture
def document(results: Results) -> Json:
    found: Json = json.loads((results.folder / "run.json").read_bytes())
    return found


@pytest.fixture
def now(results: Results) -> Json:
    """The record as it would be written today."""
    plain: Json = json.loads(json.dumps(results.run.document()))
    return plain


def test_there_are_documents_of_both_schemas() -> None:
    schemas = {json.loads((folder / "run.json").read_bytes())["schema"] for folder in FORMER}
    assert schemas == {"pgmnemo/run/1", "pgmnemo/run/2"}


def test_what_kept_its_name_is_as_it_was(document: Json, now: Json) -> None:
    for name in document.keys() - ELSEWHERE:
        assert now[name] == document[name], name
    assert now["protocol"] == {**document["protocol"], "pins_sha256": ""}
    assert now.keys() - document.keys() <= {
        "choice",
        "passages",
        "reranker",
        "reranks",
        "rewriter",
        "rewrites",
    }


def test_suite_and_granularity_are_of_the_choice_now(document: Json, now: Json) -> None:
    choice, corpus = now["choice"], document["corpus"]
    assert {"suite": choice["suite"], "granularity": choice["level"], **now["corpus"]} == corpus


def test_options_are_of_the_choice_and_what_there_was_not_stands_at_its_default(
    document: Json, now: Json
) -> None:
    choice, options = now["choice"], document["options"]
    assert {name: choice[name] for name in options} == options
    assert choice["version"] == document["pgmnemo_version"]
    assert choice["embedder"] == document["embedder"]["name"]
    assert (choice["text"], choice["system"], choice["systems"], choice["settings"]) == (
        "full", "pgmnemo", [], {},
    )  # fmt: skip


def test_the_first_arm_is_the_system_under_test_and_the_others_are_legs_or_controls(
    document: Json, now: Json
) -> None:
    assert [{"name": arm["name"], "words": arm["words"]} for arm in now["arms"]] == document["arms"]
    roles = {arm["name"]: arm["role"] for arm in now["arms"]}
    known = {"pgmnemo": "system", "bm25": "leg", "keyword": "leg", "vector": "leg"}
    assert roles == {name: known.get(name, "control") for name in roles}
    first = now["arms"][0]
    assert (first["title"], first["version"]) == ("pgmnemo", document["pgmnemo_version"])
    assert first["components"] == list(document["components"])


def test_the_record_answers_for_its_run(results: Results, document: Json) -> None:
    run = results.run
    assert run.title == f"pgmnemo v{document['pgmnemo_version']}"
    assert (run.system, run.version) == ("pgmnemo", document["pgmnemo_version"])
    assert run.embedder_name == document["embedder"]["name"]
    assert run.edition.version == document["protocol"]["version"]
    assert run.edition.sha256 == document["protocol"]["sha256"]
    assert ROOT / run.path == results.folder


def test_a_run_without_vectors_has_no_embedder() -> None:
    document: Json = json.loads((FORMER[0] / "run.json").read_bytes())
    assert brought_up({**document, "embedder": None})["choice"]["embedder"] == "none"


def test_a_document_of_today_stays_as_it_is(run: Run) -> None:
    document = run.document()
    assert brought_up(document) is document
