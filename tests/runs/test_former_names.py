"""Runs of the schema run/5, whose `choice` has three keys by their former names."""

from __future__ import annotations

import json
from dataclasses import replace

from runner.paths import ROOT
from runner.report.citation import command
from runner.runs.results import Results
from runner.runs.run import Run

COMMITTED = ROOT / "benchmarks" / "locomo" / "results" / "v0.4.1_20261126_minilm_side-by-side"


def test_a_committed_run_is_read_by_the_current_names_and_written_by_its_own() -> None:
    results = Results(COMMITTED)
    run, choice = results.run, results.document["choice"]
    assert results.document["schema"] == "pgmnemo/run/5"
    assert list(run.choice.baselines) == choice["systems"] != []
    assert (run.choice.template, run.choice.baseline_scopes) == ("full", "headline")
    assert run.baseline_scopes == run.scopes[:1] != run.scopes
    assert json.dumps(run.document()) == json.dumps(results.document)


def test_a_new_run_has_the_current_names_alone(run: Run) -> None:
    document = run.document()
    assert document["schema"] == "pgmnemo/run/6"
    assert {"template", "baselines", "baseline_scopes"} < set(document["choice"])
    assert not {"text", "systems", "beside"} & set(document["choice"])


def test_a_command_names_its_options_as_the_schema_of_its_run_does(run: Run) -> None:
    former = Results(COMMITTED).run
    changes = {"template": "undated", "baselines": ("chroma",)}
    for one, options in ((former, ("--text undated", "--systems chroma")),
                         (run, ("--template undated", "--baselines chroma"))):  # fmt: skip
        words = command(replace(one, choice=replace(one.choice, **changes)))
        assert all(option in words for option in options)
