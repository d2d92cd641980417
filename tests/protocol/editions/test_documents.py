"""The procedure and the addenda name what there is, and every relative link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgmnemo.embedders import EMBEDDERS
from runner.protocol.editions import DOCUMENT, current

ROOT = DOCUMENT.parent
DOCUMENTS = [
    "PROTOCOL.md", "HISTORY.md", "CAPABILITIES.md", "docs/howto/measure.md", "benchmarks/locomo/README.md",
    "benchmarks/locomo/ADDENDA/LOCOMO_DRAGON_PLUS_PADDING.md", "benchmarks/longmemeval/README.md",
    "benchmarks/longmemeval/ADDENDA/LONGMEMEVAL_EMBEDDER_BGE_M3.md",
]  # fmt: skip
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_to_a_file(name: str) -> None:
    document = ROOT / name
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), f"{name} links to {target}"


def test_the_procedure_names_every_embedder() -> None:
    text = (ROOT / "docs" / "howto" / "measure.md").read_text(encoding="utf-8")
    for name in (*EMBEDDERS, "none"):
        assert f"`{name}`" in text, f"a new embedder needs a row in measure.md: {name}"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("benchmarks/longmemeval/ADDENDA/LONGMEMEVAL_EMBEDDER_BGE_M3.md", "bge-m3"),
        ("benchmarks/locomo/ADDENDA/LOCOMO_DRAGON_PLUS_PADDING.md", "dragon-plus"),
    ],
)
def test_an_addendum_names_the_pinned_model(path: str, name: str) -> None:
    pins, text = current().embedders[name], Path(ROOT / path).read_text(encoding="utf-8")
    for commit in pins.revision.split(" + "):
        assert commit in text
    assert f"{pins.max_tokens} tokens" in text
