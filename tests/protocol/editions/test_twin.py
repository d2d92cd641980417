"""PROTOCOL.md and the edition.toml in force say the same."""

from __future__ import annotations

import re

import pytest

import pgmnemo.embedders.bge_m3 as bge_m3
import pgmnemo.embedders.dragon_plus as dragon_plus
import pgmnemo.embedders.minilm as minilm
from runner.protocol.datasets import SUITES
from runner.protocol.editions import DOCUMENT, current
from runner.protocol.editions.load import FOLDER, PINS, tables_of
from runner.protocol.metrics import interval_methods, metrics_for
from runner.runs.manifest import COMPLETE, MANIFEST

HASH = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
EDITION = current()
BODY = DOCUMENT.read_text(encoding="utf-8")
RELEASED = re.compile(r"^(\| \d+\.\d+\.|\| `\w+@|- `\w+`: ).*\n", re.MULTILINE)
"""The rows that a release writes: a version's, a metric's, a gate's, and those of their form."""


def section(number: str) -> str:
    """The text of one section, up to the next heading of its level or above."""
    level = "##" if number.count(".") == 0 else "###" if number.count(".") == 1 else "####"
    start = re.search(rf"^{level} {re.escape(number)}\.? ", BODY, re.MULTILINE)
    assert start, f"PROTOCOL.md has no section {number}"
    end = re.search(rf"^#{{2,{len(level)}}} ", BODY[start.end() :], re.MULTILINE)
    return " ".join(BODY[start.start() : start.end() + end.start() if end else len(BODY)].split())


def row(number: str, start: str) -> str:
    """The line of a section that begins so."""
    return re.search(rf"^{re.escape(start)}.*$", BODY[BODY.index(f" {number} ") :], re.MULTILINE)[0]  # type: ignore[index]


def test_it_is_short_and_names_its_pins() -> None:
    assert len(RELEASED.sub("", BODY).split()) <= 4800
    assert f"SHA-256 of `edition.toml`: `{EDITION.pins_sha256}`" in BODY


def test_the_version_is_the_same_everywhere() -> None:
    version = EDITION.version
    assert f"**Version {version}**" in BODY
    assert f"| {version} |" in section("9")
    assert f"Protocol v{version}" in section("8")
    history = DOCUMENT.with_name("HISTORY.md").read_text(encoding="utf-8")
    assert f" · protocol · {version}\n" in history
    assert f"No canonical result under {version} exists yet" in BODY
    assert "owed" in section("9")


def test_no_hash_stands_in_the_text_that_is_not_pinned() -> None:
    pinned = {*HASH.findall(str(tables_of(FOLDER / EDITION.version / PINS))), EDITION.pins_sha256}
    assert set(HASH.findall(BODY)) <= pinned


@pytest.mark.parametrize(("suite", "number"), [("longmemeval", "2.1"), ("locomo", "2.2")])
def test_a_corpus_is_described_by_its_pins(suite: str, number: str) -> None:
    pins, text = EDITION.suites[suite], section(number)
    for value in (pins.sha256, pins.file, pins.url, pins.data_variable, f"{pins.bytes:,} bytes"):
        assert str(value) in text
    for name in SUITES[suite].types:
        assert f" {name} {pins.shape[name]:,}" in text, name
    for name in ("projects", "segments", "turns", "questions", "scored", "abstention"):
        assert f"{pins.shape.get(name, 0):,}" in text or name not in pins.shape, name


def test_other_files_are_called_by_their_hash() -> None:
    registered = {pins.sha256 for pins in EDITION.suites.values()}
    for digest in EDITION.known_files.keys() - registered:
        assert digest in section("2.1")


def test_the_canonical_embedders_are_those_pinned() -> None:
    text = section("3")
    for suite in ("LongMemEval", "LoCoMo", "sample"):
        name = EDITION.suites[suite.lower()].embedder
        pins = EDITION.embedders[name]
        line = row("3.1", f"| {suite}")
        assert f"`{name}`" in line
        assert pins.model.split(" + ")[0] in line
        assert f"{pins.dimensions:,}" in line
    assert f"{EDITION.embedding.max_tokens} tokens" in text
    assert f"batch size is {EDITION.embedding.batch_size}" in text
    assert f"`PYTHONHASHSEED` is {EDITION.seed}" in text
    assert f"zero-padded to {EDITION.embedding.width:,}" in text
    assert f"`minilm` reads {EDITION.embedders['minilm'].max_tokens} tokens" in text


def test_the_embedders_load_what_is_pinned() -> None:
    pins = current().embedders
    assert pins["bge-m3"].revision == bge_m3.BGE_M3.revision
    assert pins["dragon-plus"].revision == f"{dragon_plus.QUERY.revision} + {dragon_plus.CONTEXT.revision}"
    assert pins["minilm"].revision == f"sha256:{minilm.WEIGHTS_SHA256}"
    assert pins["minilm"].max_tokens == minilm.TOKENS


def test_the_metrics_are_those_defined() -> None:
    text = section("4.1")
    pins, metrics = EDITION.metrics, metrics_for(EDITION)
    cutoffs = ", ".join(map(str, pins.cutoffs))
    for family in ("recall_any@k", "recall_frac@k", "recall_all@k"):
        assert row("4.1", f"| `{family}`").endswith(f"| {cutoffs} |")
    for metric in (f"MRR@{pins.mrr_depth}", f"nDCG@{pins.ndcg_depth}", *pins.headline):
        assert f"`{metric}`" in text
        assert metric in metrics


def test_depth_default_k_and_settings_are_those_pinned() -> None:
    pins, settings = EDITION.retrieval, EDITION.settings
    assert f"k = {pins.depth} serves every cutoff" in section("4.2")
    assert f"{pins.default_k} unless given" in section("4.2")
    assert f"at k = {pins.timed_k}" in section("4.2")
    rows = section("4.3")
    assert f"| `pgmnemo.gate_strict` | `{settings['gate_strict']}`" in rows
    assert f"| `pgmnemo.recency_weight` | {settings['recency_weight']:.2f} |" in rows
    assert len(settings) == 2


def test_passages_are_cut_as_pinned() -> None:
    pins, text = EDITION.passages, section("2.6")
    assert f"up to {pins.turns} consecutive turns of people, a new one every {pins.step} turns" in text
    assert f"the first {pins.characters} characters" in text


def test_the_components_are_those_of_the_engines() -> None:
    newest, text = EDITION.engine("99"), section("4.2")
    assert tuple(re.findall(r"- `(\w+)`:", text)) == newest.components
    assert f"From {newest.since} on eleven components act" in text
    assert set(newest.components) - set(EDITION.engine("0.3.0").components) == {"neighbours"}
    assert EDITION.engine("0.2.1").components == ("cosine", "bm25", "recency", "importance", "graph")


@pytest.mark.parametrize(
    ("version", "passages"),
    [("0.2.1", False), ("0.2.9", False), ("0.3.0", True), ("0.3.0-rc1", True), ("0.10.0", True), ("", False)],
)
def test_an_engine_is_the_newest_that_is_not_newer_than_a_version(version: str, passages: bool) -> None:
    assert current().engine(version).passages is passages


def test_the_arms_are_those_described() -> None:
    named = re.findall(r"- (`.*?):", section("4.6"))
    assert set(re.findall(r"`([\w-]+)`", " ".join(named))) == {"pgmnemo", *EDITION.arms, "ceiling"}


def test_the_variance_bands_are_those_pinned() -> None:
    rows = section("6")
    for metric in ("recall_any@10", "MRR@50"):
        bands = [f"± {EDITION.variance[suite][metric]:.3f}" for suite in ("longmemeval", "locomo")]
        assert f"`{metric}` | {bands[0]} | {bands[1]} |" in rows


def test_scopes_and_views_are_those_of_the_suites() -> None:
    assert "`all`" in section("4.7")
    for pins in EDITION.suites.values():
        for view in pins.views:
            assert f"`{view.name}`" in section("4.7")
        for scope in pins.scopes:
            assert f"| `{scope}` |" in section("4.4")


def test_every_gate_has_its_row() -> None:
    rows = re.findall(r"- `(\w+)`:", section("5"))
    assert sorted(rows) == sorted(EDITION.gates)


def test_the_intervals_are_called_by_the_names_in_use() -> None:
    text = section("4.8")
    for clustered in (True, False):
        for name in interval_methods(clustered, EDITION.metrics.code).values():
            method, _, how = name.partition(", ")
            assert f"*{method}*" in text
            assert f"*{how}*" in text


def test_the_artefacts_are_those_written() -> None:
    assert set(EDITION.artefacts.required) == {*COMPLETE, MANIFEST}
    for name in EDITION.artefacts.required:
        assert f"- `{name}`: " in section("7")


@pytest.mark.parametrize(
    "number", ["2.1", "2.2", "2.2.1", "3.1", "3.2", "4.1", "4.2", "4.3", *map(str, range(1, 11))]
)
def test_every_section_of_1_0_0_keeps_its_number(number: str) -> None:
    assert section(number)
