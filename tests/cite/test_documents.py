"""What the project's own documents say of recall was written by the program, and stands in the artefacts."""

from __future__ import annotations

import re
from pathlib import Path

from runner.cite.kinds import KINDS, PLAIN
from runner.cite.marks import FROM, check, write

ROOT = Path(__file__).parents[2]
PLACES = ("*.md", "benchmarks/**/*.md", "runner/**/*.md", "shards/**/*.md", "sql/*.md")
ELSEWHERE = (
    "PROTOCOL.md", "runner/editions/*/PROTOCOL.md",  # pinned by their hashes
    "benchmarks/*/results/*/report.md", "benchmarks/*/local/*/report.md",  # written from metrics.json
    "benchmarks/TUNING.md", "benchmarks/performance/v*/*.md",  # written by `tune` and `perf`
)  # fmt: skip


def test_our_own_documents_state_no_figure_that_the_program_did_not_write() -> None:
    files = {path for place in PLACES for path in ROOT.glob(place)}
    files -= {path for place in ELSEWHERE for path in ROOT.glob(place)}
    report = check(sorted(files))
    assert report.passed, "\n".join(map(str, report.findings))
    assert report.marks >= 15


def test_the_example_of_the_guide_is_filled_in_as_it_shows(tmp_path: Path) -> None:
    text = (ROOT / "benchmarks" / "CITING.md").read_text(encoding="utf-8")
    before, after = re.findall(r"```markdown\n(.+?)```", text, re.DOTALL)
    file = tmp_path / "NOTES.md"
    file.write_text(before, encoding="utf-8")
    assert write([file]).passed
    assert file.read_text(encoding="utf-8") == after
    assert check([file]).passed
    forms = re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE)
    assert forms == [PLAIN.form, *(kind.form for kind in KINDS.values()), f"{FROM} SOURCE"]
