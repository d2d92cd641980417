"""`python -m runner compare`: text, JSON, exit codes, and two versions run on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from runner.bench.request import Request
from runner.cli import main
from runner.commands.compare import command
from runner.commands.compare.comparison import SCHEMA
from runner.protocol.editions import current
from runner.protocol.metrics import metrics_for
from runner.runs.schemas import schema_fault

Folder = Callable[..., Path]
Ranks = dict[str, int]


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    def run(*words: object) -> Ended:
        code = main(["compare", *map(str, words)])
        return Ended(code, *capsys.readouterr())

    return run


def test_text_ends_in_the_verdict_and_says_what_it_rests_on(
    cli: Callable[..., Ended], folder: Folder, ranks: Ranks
) -> None:
    worse = ranks | {key: 0 for key in ranks if key.endswith(("q0", "q1"))}
    ended = cli(folder("a", ranks), folder("b", worse))
    lines = ended.out.splitlines()
    assert (ended.code, ended.err) == (1, "")
    assert lines[-1] == "verdict: regressed"
    words = " ".join(ended.out.split())
    for sentence in (
        "baseline: a, pgmnemo v0.2.1, minilm (deviation: embedder: minilm)",
        "| recall_any@5 | 100.0 | 50.0 | −50.0 [",  # noqa: RUF001
        "Holm's correction at 5% over 8 hypotheses: recall_any@1 (conversation)",
        "those of one project are not, so its p is too small",
        "conversation, recall_all@5, lost (20): `p0/q0`, `p0/q1`, `p1/q0`",
        "… and 8 more",
        "without hard",
    ):
        assert sentence in words


def test_json_holds_everything_and_is_of_the_published_schema(
    cli: Callable[..., Ended], folder: Folder, ranks: Ranks, broken: Callable[..., list[Any]]
) -> None:
    words = (folder("a", ranks), folder("b", ranks | {"p0/q0": 0}, choice={"mode": "vector"}))
    ended = cli(*words, "--json", "--max-drop", "MRR@50=0.5", "--despite", "mode")
    document = json.loads(ended.out)
    assert (ended.code, document["verdict"], document["schema"]) == (0, "inconclusive", SCHEMA)
    assert document["max_drop"] == {"MRR@50": 0.5}
    assert len(document["family"]["members"]) == 8
    parts = 5  # all, easy, hard; without hard: all, easy
    known = [metric for metric in metrics_for(current()).values() if not metric.needs_lengths]
    assert len(document["rows"]) == len(known) * 2 * parts
    assert {
        "scope": "conversation", "metric": "recall_all@5", "won": [], "lost": ["p0/q0"],
    } in document["questions"]  # fmt: skip
    assert "/" not in document["baseline"]["name"]
    assert [one["condition"] for one in document["despite"]] == ["mode"]
    document["rows"] = document["rows"][:3]
    assert schema_fault(SCHEMA, document) is None
    changed = broken(document, "max_drop")
    assert len(changed) > 200
    assert all(schema_fault(SCHEMA, one) for one in changed)


@pytest.mark.parametrize(
    ("option", "code"), [((), 0), (("--strict",), 1), (("--max-drop", "MRR@50=0.001"), 1)]
)
def test_exit_codes(
    cli: Callable[..., Ended], folder: Folder, ranks: Ranks, option: tuple[str, ...], code: int
) -> None:
    assert cli(folder("a", ranks), folder("b", ranks | {"p0/q0": 0}), *option).code == code


def test_a_waived_difference_is_shouted(cli: Callable[..., Ended], folder: Folder, ranks: Ranks) -> None:
    words = (folder("a", ranks), folder("b", ranks, embedder=None))
    assert cli(*words).code == 2
    ended = cli(*words, "--despite", "embedder")
    assert "DESPITE embedder (minilm against none)" in ended.out
    assert (
        ended.out.splitlines()[-1] == "verdict: equivalent (compared despite embedder (minilm against none))"
    )


def test_two_versions_are_run_on_the_spot_and_compared(
    cli: Callable[..., Ended], folder: Folder, ranks: Ranks, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []

    def run(request: Request, **_: Any) -> SimpleNamespace:
        asked.append(request)
        return SimpleNamespace(folder=folder(f"run{len(asked)}", ranks, choice={"version": request.number}))

    monkeypatch.setattr(command, "run", run)
    monkeypatch.setattr(command, "check_release", lambda sql, number: None)
    ended = cli("--versions", "v0.2.1", "v0.6.1", "--suite", "sample", "--embedder", "none", "--limit", 3)
    same = ("sample", "none", 3)
    assert [(r.version, r.suite, r.embedder, r.limit) for r in asked] == [
        ("v0.2.1", *same),
        ("v0.6.1", *same),
    ]
    assert "| version | 0.2.1    | 0.6.1     |" in ended.out
