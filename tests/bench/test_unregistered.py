"""A corpus that is not registered is unverified with the flag; without it is an ending: test_endings.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helping import CURRENT


def test_an_unregistered_corpus_is_unverified_with_the_flag(
    bench: Callable[..., Any], altered: Callable[..., Path], tmp_path: Path
) -> None:
    data = altered(lambda projects: projects[0]["sessions"][0]["turns"].append("Mira: That is all."))
    ended = bench("--data", data, "--allow-unregistered-corpus")
    assert ended.code == 0
    assert f"the sample, pgmnemo v{CURRENT}: unverified" in ended.out
    [place] = (tmp_path / "results").glob("v*")
    assert "**Unverified: not to be cited.**" in (place / "report.md").read_text()
    assert "- verdict: unverified" in (tmp_path / "results" / "HISTORY.md").read_text()
