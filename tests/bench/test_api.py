"""The programmatic API: the names of the command line, at the price of what is used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.errors import UsageError

ROOT = Path(runner.__file__).parents[1]

# `None` in sys.modules makes every import of a module fail.
RUN = """
import sys
for name in ("torch", "transformers", "sentence_transformers", "FlagEmbedding"):
    sys.modules[name] = None
from pathlib import Path
import runner
from tests.helping import CURRENT
embedder, output, cache, sql, dsn = sys.argv[1:]
request = runner.Request("sample", embedder=embedder, output=output, cache=cache, dsn=dsn, limit=3)
print(runner.run(request, sql=Path(sql)).run.verdict)
"""


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, env=environ, capture_output=True, text=True, check=False)


def test_a_run_and_a_dry_run_answer_with_records(sql: Path, server: Any, tmp_path: Path) -> None:
    request = runner.Request("sample", embedder="hash", output=tmp_path, dsn=server.dsn(), types=("recency",))
    gates = runner.dry_run(request, sql=sql)
    assert {gate.gate for gate in gates if gate.status == "deviation"} >= {"embedder", "scope"}
    outcome = runner.run(request, sql=sql)
    assert outcome.folder.parent == tmp_path
    assert outcome.run.verdict == outcome.metrics["verdict"] == "deviation"
    assert {row["n"] for row in outcome.metrics["results"]} == {3}


def test_a_keyword_only_run_imports_no_torch(sql: Path, server: Any, tmp_path: Path) -> None:
    ended = python(RUN, "none", tmp_path, tmp_path / "cache", sql, server.dsn())
    assert (ended.returncode, ended.stdout) == (0, "deviation\n"), ended.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"keep": True, "output": "x"}, "--keep writes to benchmarks/<suite>/results, --output elsewhere"),
        (
            {"set": ("bm25_b=0.5",), "baselines": ("pgmnemo",)},
            "pgmnemo, pgmnemo; name each once, and in place of --set write pgmnemo:bm25_b=0.5",
        ),
        ({"baselines": ("http",), "system_url": "nonsense"}, "not 'nonsense'"),
        ({"baseline_scopes": "nowhere"}, "--baseline-scopes takes all or headline, not 'nowhere'"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        runner.Request("sample", embedder="none", **options)
