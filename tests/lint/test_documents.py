"""The project's own documents pass its own linter."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.lint import lint

ROOT = Path(__file__).parents[2]
NAMED = (
    "README.md", "PROTOCOL.md", "HISTORY.md", "CONTRIBUTING.md", "CHANGELOG.md",
    "GLOSSARY.md", "runner/README.md", "sql/README.md",
)  # fmt: skip
OURS = [ROOT / name for name in NAMED] + [
    path for path in sorted((ROOT / "benchmarks").rglob("*.md")) if not {"results", "local"} & set(path.parts)
]


@pytest.mark.parametrize("file", OURS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_our_own_documents_state_no_figure_that_is_not_sourced(file: Path) -> None:
    findings = lint([file]).findings
    assert not findings, "\n".join(map(str, findings))
