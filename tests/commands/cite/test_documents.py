"""What the project's own documents say of recall was written by the program, and stands in the artefacts."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

from runner.commands.cite.document import Document
from runner.commands.cite.mark_contents import KINDS, PLAIN
from runner.commands.cite.marks import FROM, check

ROOT = Path(__file__).parents[3]
PLACES = ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "runner/**/*.md", "shards/**/*.md", "sql/*.md")
ELSEWHERE = (
    "PROTOCOL.md", "runner/protocol/editions/*/PROTOCOL.md",  # pinned by their hashes
    "benchmarks/*/results/*/report.md", "benchmarks/*/local/*/report.md",  # written from metrics.json
    "benchmarks/TUNING.md", "benchmarks/performance/v*/*.md",  # written by `tune` and `perf`
)  # fmt: skip


def test_our_own_documents_state_no_figure_that_the_program_did_not_write() -> None:
    files = {path for place in PLACES for path in ROOT.glob(place)}
    files -= {path for place in ELSEWHERE for path in ROOT.glob(place)}
    report = check(sorted(files))
    assert report.passed, "\n".join(map(str, report.findings))
    assert report.marks >= 5


def test_the_guide_names_every_mark() -> None:
    text = (ROOT / "docs" / "howto" / "compare.md").read_text(encoding="utf-8")
    forms = re.findall(r"^\| `(.+?)` \|", text.partition("| Mark |")[2], re.MULTILINE)
    assert forms == [PLAIN.form, *(kind.form for kind in KINDS.values()), f"{FROM} SOURCE"]


HELD_OUT = Path(__file__).with_name("held_out.jsonl.xz")


def test_every_document_with_a_recall_figure_is_flagged_and_no_other() -> None:
    """400 documents about our runs, by two authors who knew no rule of ours; half of them are wrong.

    None has a mark, so nothing here tells a wrong figure from a right one: what is measured is that every
    document with a recall figure is flagged, and none without.
    """
    documents = [json.loads(line) for line in lzma.decompress(HELD_OUT.read_bytes()).splitlines()]
    assert [one["right"] for one in documents].count(False) == len(documents) / 2 == 200
    passed = [one["id"] for one in documents if not any(Document(one["document"]).unmarked())]
    silent = [one["id"] for one in documents if one["right"] and one["kind"] == "no claim"]
    assert passed == silent
    assert len(silent) == 33
