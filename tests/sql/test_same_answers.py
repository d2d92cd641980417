"""0.4.1 answers as 0.4.0 does, to the last bit: it costs less, and does nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from runner.places import ROOT
from runner.protocol.suites import SUITES
from tests.sql.assembling import script

SCRIPT = ROOT / "benchmarks" / "performance" / "same_answers.py"


def test_every_answer_of_every_mode_is_that_of_0_4_0(tmp_path: Path) -> None:
    same, suite = script(SCRIPT), SUITES["sample"]
    corpus = suite.load(suite.locate(None, os.environ))
    material = same.material_of(corpus, EMBEDDERS["hash"](EmbedderOptions(dimensions=384)), None)
    first, second = (same.answers(version, material, tmp_path) for version in ("0.4.0", "0.4.1"))
    asked = len(same.queries_of(material))
    assert len(first) == len(second) == asked * len(same.MODES)
    assert sum(len(answer) for answer in first) > 5 * asked  # they are answers
    assert same.differing(first, second) == 0
    spoilt = [*second[:-1], ((0, same.bits(0.5)),)]
    assert same.differing(first, spoilt) == 1  # and a difference would be seen
    scopes = [scope.name for scope in corpus.scopes]
    assert [*same.where(first, spoilt, scopes)] == [f"vector, {scopes[-1]}: 1 of {len(corpus.questions)}"]
    kept = same.answers("0.4.1", material, tmp_path, {"exact_scan_limit": "10000000"}, kept=True)
    assert same.differing(first, kept) == 0
