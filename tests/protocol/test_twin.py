"""PROTOCOL.md and protocol.toml say the same, in the appendix and in the text before it."""

from __future__ import annotations

import re

import pytest

import runner.embedders.bge_m3 as bge_m3
import runner.embedders.dragon_plus as dragon_plus
import runner.embedders.minilm as minilm
from runner.artefacts.manifest import COMPLETE, MANIFEST
from runner.gates import GATES
from runner.metrics import METRICS, interval_methods
from runner.protocol import DOCUMENT, engine, load_protocol
from runner.protocol.appendix import HEAD, appendix
from runner.suites import SUITES
from runner.systems import SYSTEMS

TEXT = DOCUMENT.read_text(encoding="utf-8")
BODY, _, APPENDIX = TEXT.partition(HEAD)
PROTOCOL = load_protocol()
HASH = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")


def section(number: str) -> str:
    """The text of one section, up to the next heading of its level or above."""
    level = "##" if number.count(".") == 0 else "###" if number.count(".") == 1 else "####"
    start = re.search(rf"^{level} {re.escape(number)}\.? ", BODY, re.MULTILINE)
    assert start, f"PROTOCOL.md has no section {number}"
    end = re.search(rf"^#{{2,{len(level)}}} ", BODY[start.end() :], re.MULTILINE)
    return BODY[start.start() : start.end() + end.start() if end else len(BODY)]


def test_the_appendix_prints_every_pin() -> None:
    assert appendix() == HEAD + APPENDIX, "run `python -m runner.protocol.appendix` and paste what it prints"


def test_the_version_is_the_same_everywhere() -> None:
    assert f"**Version {PROTOCOL.version}**" in BODY
    assert f"| {PROTOCOL.version} |" in section("9")
    assert f"Protocol v{PROTOCOL.version}" in section("8")
    history = DOCUMENT.with_name("HISTORY.md").read_text(encoding="utf-8")
    assert f" · protocol · {PROTOCOL.version}\n" in history


def test_no_hash_stands_in_the_text_that_is_not_pinned() -> None:
    pinned = set(HASH.findall(APPENDIX))
    assert set(HASH.findall(BODY)) <= pinned


@pytest.mark.parametrize(("suite", "number"), [("longmemeval", "2.1"), ("locomo", "2.2")])
def test_a_corpus_is_described_by_its_pins(suite: str, number: str) -> None:
    pins, text = PROTOCOL.suites[suite], section(number)
    for value in (pins.sha256, pins.file, pins.url, pins.data_variable, f"{pins.bytes:,} bytes"):
        assert str(value) in text
    for name in SUITES[suite].types:
        assert re.search(rf"^\|.*\b{name} \| {pins.shape[name]:,} \|$", text, re.MULTILINE), name
    for name in ("projects", "segments", "turns", "questions", "scored", "abstention"):
        assert f"{pins.shape.get(name, 0):,}" in text or name not in pins.shape, name


def test_other_files_are_called_by_their_hash() -> None:
    registered = {pins.sha256 for pins in PROTOCOL.suites.values()}
    for digest in PROTOCOL.known_files.keys() - registered:
        assert digest in section("2.1")


def test_the_canonical_embedders_are_those_pinned() -> None:
    text = section("3")
    for suite in ("LongMemEval", "LoCoMo", "sample"):
        name = PROTOCOL.suites[suite.lower()].embedder
        pins = PROTOCOL.embedders[name]
        row = next(line for line in text.splitlines() if line.startswith(f"| {suite}"))
        assert f"`{name}`" in row
        assert pins.model.split(" + ")[0] in row
        assert f"{pins.dimensions:,}" in row
    assert f"{PROTOCOL.max_tokens} tokens" in text
    assert f"| Batch size | {PROTOCOL.batch_size} |" in text
    assert f"| `PYTHONHASHSEED` | {PROTOCOL.seed} |" in text
    assert f"zero-padded to {PROTOCOL.width:,}" in text
    assert f"`minilm` reads {PROTOCOL.embedders['minilm'].max_tokens} tokens" in text


def test_the_embedders_load_what_is_pinned() -> None:
    pins = PROTOCOL.embedders
    assert pins["bge-m3"].revision == bge_m3.BGE_M3.revision
    assert pins["dragon-plus"].revision == f"{dragon_plus.QUERY.revision} + {dragon_plus.CONTEXT.revision}"
    assert pins["minilm"].revision == f"sha256:{minilm.WEIGHTS_SHA256}"
    assert pins["minilm"].max_tokens == minilm.TOKENS


def test_the_metrics_are_those_defined() -> None:
    text = section("4.1")
    cutoffs = ", ".join(map(str, PROTOCOL.cutoffs))
    for family in ("recall_any@k", "recall_frac@k", "recall_all@k"):
        row = next(line for line in text.splitlines() if line.startswith(f"| `{family}`"))
        assert row.endswith(f"| {cutoffs} |")
    for metric in (f"MRR@{PROTOCOL.mrr_depth}", f"nDCG@{PROTOCOL.ndcg_depth}", *PROTOCOL.headline):
        assert f"`{metric}`" in text
        assert metric in METRICS


def test_depth_default_k_and_settings_are_those_pinned() -> None:
    assert f"k = {PROTOCOL.depth} serves every cutoff" in section("4.2")
    assert f"{PROTOCOL.default_k} unless given" in section("4.2")
    assert f"at k = {PROTOCOL.timed_k}" in section("4.2")
    rows = section("4.3")
    assert f"| `pgmnemo.gate_strict` | `{PROTOCOL.settings['gate_strict']}`" in rows
    assert f"| `pgmnemo.recency_weight` | {PROTOCOL.settings['recency_weight']:.2f} |" in rows
    assert len(PROTOCOL.settings) == 2


def test_passages_are_cut_as_pinned() -> None:
    pins, text = PROTOCOL.passages, section("2.6")
    assert pins is not None
    assert f"up to {pins.turns} consecutive turns of people, a new one every {pins.step} turns" in text
    assert f"the first {pins.characters} characters" in text


def test_the_components_are_those_of_the_newest_engine() -> None:
    rows = re.findall(r"^\| `(\w+)`", section("4.2"), re.MULTILINE)
    assert tuple(rows) == engine("99").components
    assert f"From {engine('99').since} on ten act" in section("4.2")
    assert engine("0.2.1").components == ("cosine", "bm25", "recency", "importance", "graph")


@pytest.mark.parametrize(
    ("version", "passages"),
    [("0.2.1", False), ("0.2.9", False), ("0.3.0", True), ("0.3.0-rc1", True), ("0.10.0", True), ("", False)],
)
def test_an_engine_is_the_newest_that_is_not_newer_than_a_version(version: str, passages: bool) -> None:
    assert engine(version).passages is passages


def test_the_arms_are_those_described() -> None:
    named = re.findall(r"^- (.*?):", section("4.6"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(named))) == {*SYSTEMS, "ceiling"}


def test_the_variance_bands_are_those_pinned() -> None:
    rows = section("6")
    for metric in ("recall_any@10", "MRR@50"):
        bands = [f"± {PROTOCOL.variance[suite][metric]:.3f}" for suite in ("longmemeval", "locomo")]
        assert f"`{metric}` | {bands[0]} | {bands[1]} |" in rows


def test_scopes_and_views_are_those_of_the_suites() -> None:
    for suite in SUITES.values():
        for view in suite.views:
            assert f"`{view}`" in section("4.7")
    for scope in ("haystack", "conversation", "pool"):
        assert f"| `{scope}` |" in section("4.4")


def test_every_gate_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)`", section("5"), re.MULTILINE)
    assert sorted(rows) == sorted(GATES)


def test_the_intervals_are_called_by_the_names_in_use() -> None:
    text = " ".join(section("4.8").split())
    for clustered in (True, False):
        for name in interval_methods(clustered).values():
            method, _, how = name.partition(", ")
            assert f"*{method}*" in text
            assert f"*{how}*" in text


def test_the_artefacts_are_those_written() -> None:
    assert set(PROTOCOL.artefacts) == {*COMPLETE, MANIFEST}
    for name in PROTOCOL.artefacts:
        assert f"| `{name}` |" in section("7")


@pytest.mark.parametrize(
    "number", ["2.1", "2.2", "2.2.1", "3.1", "3.2", "4.1", "4.2", "4.3", *map(str, range(1, 11))]
)
def test_every_section_of_1_0_0_keeps_its_number(number: str) -> None:
    assert section(number)


def test_it_says_that_no_canonical_result_exists() -> None:
    assert f"No canonical result under {PROTOCOL.version} exists yet" in BODY
    assert "owed" in section("9")
