"""Plots say what they show and where a peer is ahead, and can be read on light and on dark ground."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from runner.commands.perf import document
from runner.commands.perf.plots import (
    GROWTH,
    ahead,
    ahead_in_recall,
    amount,
    growth,
    recall_over_latency,
)  # fmt: skip

SVG = "{http://www.w3.org/2000/svg}"
RUNS = Path(__file__).parents[3] / "benchmarks" / "performance"
COLUMNS = ("memories", "name", "title", "whole", "share", "fixed", "load", "megabytes")
ROWS = (
    (1_000, "pgmnemo", "pgmnemo", 5.0, 1.0, 1.0, 9.0, 90.0),
    (1_000, "sqlite-hybrid", "SQLite", 9.0, 2.0, 0.4, 1.0, 30.0),
    (1_000, "chroma", "ChromaDB", 1.94, 3.0, None, 10.0, 95.0),
    (1_000, "pgmnemo+passages", "with passages", 4.0, 0.5, 0.5, 8.0, 80.0),
    (2_000, "pgmnemo", "pgmnemo", 7.0, 1.2, 1.2, 20.0, 180.0),
    (2_000, "sqlite-hybrid", "SQLite", 20.0, 4.0, 0.8, 2.0, 60.0),
    (4_000, "chroma", "ChromaDB", 2.0, 3.0, None, 40.0, 400.0),
)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=list(COLUMNS))


@pytest.fixture(scope="module")
def drawn(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("drawn")
    growth(frame, folder)
    return folder


def words(path: Path) -> list[str]:
    """Every text of a picture."""
    return ["".join(text.itertext()).strip() for text in ElementTree.parse(path).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("latency_fixed.svg", ["SQLite is faster at 2,000: 0.80 ms against 1.2 ms"]),
        ("latency_whole.svg", ["ChromaDB is faster at 1,000: 1.9 ms against 5.0 ms"]),
        ("size.svg", ["SQLite is smaller at 2,000: 60 MB against 180 MB"]),
        ("latency_share.svg", []),
    ],
)
def test_a_peer_that_is_ahead_at_the_largest_size_of_both_is_named(
    frame: pd.DataFrame, file: str, said: list[str]
) -> None:
    assert list(ahead(frame, GROWTH[file])) == said
    assert list(ahead(frame[frame["name"] != "pgmnemo"], GROWTH[file])) == []


def test_a_peer_that_finds_as_much_in_less_time_is_named_and_one_that_finds_less_is_not() -> None:
    def system(name: str, recall: float, p50: float) -> Any:
        read = {"tenant": "whole", "clients": 1, "writes": 0.0, "leg": "vector", "ef_search": None}
        return {"name": name, "title": name.upper(), "reads": [{**read, "recall": recall, "p50_ms": p50}]}

    systems = [system("pgmnemo", 0.98, 4.0), system("chroma", 0.98, 2.0), system("gin-hnsw", 0.97, 1.0)]
    assert list(ahead_in_recall({"systems": systems})) == [
        "CHROMA is faster: 0.980 in 2.0 ms against 0.980 in 4.0 ms at the default"
    ]
    assert list(ahead_in_recall({"systems": systems[1:]})) == []


@pytest.mark.parametrize(("file", "one"), GROWTH.items(), ids=GROWTH)
def test_a_plot_bears_its_title_its_axes_and_the_peers_ahead(
    drawn: Path, frame: pd.DataFrame, file: str, one: Any
) -> None:
    found = words(drawn / file)
    assert {one.title, "memories (log scale)", f"{one.axis}, {one.unit} (log scale)"} <= set(found)
    assert {"1,000", "2,000", "4,000"} <= set(found)
    said = list(ahead(frame, one))
    assert [text for text in found if " against " in text] == said


def test_the_recall_plot_says_its_size_and_its_scale(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    made = document.load(RUNS / "v0.6.0_20261127_100000_384d_3")
    found = words(tmp_path / recall_over_latency(made, tmp_path))
    assert "p50 of the vector leg, ms (log scale)" in found
    assert "100,000 memories, one tenant, one client" in found
    assert [text for text in found if " against 0." in text] == list(ahead_in_recall(made))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.414, "0.41"), (1.94, "1.9"), (16.7, "17"), (2149.67, "2,150"), (9.96, "10"), (0.996, "1.0")],
)
def test_amounts_have_the_digits_that_count(value: float, text: str) -> None:
    assert amount(value) == text
