"""No figure passes unmarked: 400 documents about our runs, by two authors who knew no rule of ours.

Half of them are wrong somewhere. None has a mark, so nothing here tells a wrong figure from a right one: what
is measured is that every document with a recall figure is flagged, and none without.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path

from runner.commands.cite.document import Document

HELD_OUT = Path(__file__).with_name("held_out.jsonl.xz")


def test_every_document_with_a_recall_figure_is_flagged_and_no_other() -> None:
    documents = [json.loads(line) for line in lzma.decompress(HELD_OUT.read_bytes()).splitlines()]
    assert [one["right"] for one in documents].count(False) == len(documents) / 2 == 200
    passed = [one["id"] for one in documents if not any(Document(one["document"]).unmarked())]
    silent = [one["id"] for one in documents if one["right"] and one["kind"] == "no claim"]
    assert passed == silent
    assert len(silent) == 33
