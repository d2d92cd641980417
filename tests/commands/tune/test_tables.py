"""The committed tables are those of the committed figures, and the figures are those of a sound tuning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import runner
from runner.commands.tune.tasks import HELD_OUT
from runner.commands.tune.tuning import JSON, MARKDOWN, markdown
from runner.protocol.editions import current

FOLDER = Path(runner.__file__).parents[1] / "benchmarks"
MADE: Any = json.loads((FOLDER / JSON).read_text(encoding="utf-8"))


def test_the_tables_hold_the_figures() -> None:
    assert (FOLDER / MARKDOWN).read_text(encoding="utf-8") == markdown(MADE)


def test_nothing_was_tuned_by_items_kept_for_acceptance() -> None:
    kept = {current().suites[suite].sha256 for suite in HELD_OUT}
    assert not kept & {task["corpus_sha256"] for task in MADE["tasks"]}


def test_every_score_was_the_extensions() -> None:
    for agreed, task in zip(MADE["agreement"], MADE["tasks"], strict=True):
        assert agreed["scores"] >= task["questions"]
        assert agreed["displaced"] == agreed["at random weights"]["displaced"] == 0
        assert agreed["at random weights"]["scores"] > 0
