"""Each edition's PROTOCOL.md and edition.toml say the same, in the appendix and in the text before it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache

import pytest

import runner.embedders.bge_m3 as bge_m3
import runner.embedders.dragon_plus as dragon_plus
import runner.embedders.minilm as minilm
from runner.editions import DOCUMENT, Edition, current, edition, known
from runner.editions.appendix import HEAD, appendix, flat
from runner.editions.load import FOLDER, PINS
from runner.metrics import interval_methods, metrics_for
from runner.runs.manifest import COMPLETE, MANIFEST
from runner.suites import SUITES

HASH = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
PIN = re.compile(r"^\| `(.+?)` \| `(.*)` \|$", re.MULTILINE)
FORMER = known()[:-1]
COUNTS = {10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen"}
WITH_PASSAGES = [version for version in known() if edition(version).passages]


@dataclass(frozen=True)
class Twin:
    """An edition and its text: `body` up to the appendix, `appendix` from its first line to the end."""

    edition: Edition
    body: str
    appendix: str

    @property
    def pins(self) -> dict[str, str]:
        """Every pin of edition.toml, as the appendix prints one."""
        return dict(flat(tomllib.loads((FOLDER / self.edition.version / PINS).read_text(encoding="utf-8"))))

    def section(self, number: str) -> str:
        """The text of one section, up to the next heading of its level or above."""
        level = "##" if number.count(".") == 0 else "###" if number.count(".") == 1 else "####"
        start = re.search(rf"^{level} {re.escape(number)}\.? ", self.body, re.MULTILINE)
        assert start, f"PROTOCOL.md {self.edition.version} has no section {number}"
        end = re.search(rf"^#{{2,{len(level)}}} ", self.body[start.end() :], re.MULTILINE)
        return self.body[start.start() : start.end() + end.start() if end else len(self.body)]


@cache
def twin_of(version: str) -> Twin:
    document = FOLDER / version / DOCUMENT.name if version in FORMER else DOCUMENT
    body, _, rest = document.read_text(encoding="utf-8").partition(HEAD)
    return Twin(edition(version), body, rest)


@pytest.fixture(params=known())
def twin(request: pytest.FixtureRequest) -> Twin:
    return twin_of(request.param)


def test_the_appendix_prints_every_pin() -> None:
    printed = HEAD + twin_of(current().version).appendix
    assert appendix() == printed, "run `python -m runner.editions.appendix` and paste what it prints"


@pytest.mark.parametrize("version", FORMER)
def test_every_pin_of_a_former_appendix_stands_in_its_edition_still(version: str) -> None:
    twin = twin_of(version)
    printed = dict(PIN.findall(twin.appendix))
    assert len(printed) == twin.appendix.count("\n| `") > 70
    assert printed.items() <= twin.pins.items()


def test_the_version_is_the_same_everywhere(twin: Twin) -> None:
    version = twin.edition.version
    assert f"**Version {version}**" in twin.body
    assert f"| {version} |" in twin.section("9")
    assert f"Protocol v{version}" in twin.section("8")
    history = DOCUMENT.with_name("HISTORY.md").read_text(encoding="utf-8")
    assert f" · protocol · {version}\n" in history


def test_no_hash_stands_in_the_text_that_is_not_pinned(twin: Twin) -> None:
    pinned = set(HASH.findall(" ".join(twin.pins.values())))
    assert set(HASH.findall(twin.body)) <= pinned


@pytest.mark.parametrize(("suite", "number"), [("longmemeval", "2.1"), ("locomo", "2.2")])
def test_a_corpus_is_described_by_its_pins(twin: Twin, suite: str, number: str) -> None:
    pins, text = twin.edition.suites[suite], twin.section(number)
    for value in (pins.sha256, pins.file, pins.url, pins.data_variable, f"{pins.bytes:,} bytes"):
        assert str(value) in text
    for name in SUITES[suite].types:
        assert re.search(rf"^\|.*\b{name} \| {pins.shape[name]:,} \|$", text, re.MULTILINE), name
    for name in ("projects", "segments", "turns", "questions", "scored", "abstention"):
        assert f"{pins.shape.get(name, 0):,}" in text or name not in pins.shape, name


def test_other_files_are_called_by_their_hash(twin: Twin) -> None:
    registered = {pins.sha256 for pins in twin.edition.suites.values()}
    for digest in twin.edition.known_files.keys() - registered:
        assert digest in twin.section("2.1")


def test_the_canonical_embedders_are_those_pinned(twin: Twin) -> None:
    text = twin.section("3")
    for suite in ("LongMemEval", "LoCoMo", "sample"):
        name = twin.edition.suites[suite.lower()].embedder
        pins = twin.edition.embedders[name]
        row = next(line for line in text.splitlines() if line.startswith(f"| {suite}"))
        assert f"`{name}`" in row
        assert pins.model.split(" + ")[0] in row
        assert f"{pins.dimensions:,}" in row
    assert f"{twin.edition.embedding.max_tokens} tokens" in text
    assert f"| Batch size | {twin.edition.embedding.batch_size} |" in text
    assert f"| `PYTHONHASHSEED` | {twin.edition.seed} |" in text
    assert f"zero-padded to {twin.edition.embedding.width:,}" in text
    assert f"`minilm` reads {twin.edition.embedders['minilm'].max_tokens} tokens" in text


def test_the_embedders_load_what_is_pinned() -> None:
    pins = current().embedders
    assert pins["bge-m3"].revision == bge_m3.BGE_M3.revision
    assert pins["dragon-plus"].revision == f"{dragon_plus.QUERY.revision} + {dragon_plus.CONTEXT.revision}"
    assert pins["minilm"].revision == f"sha256:{minilm.WEIGHTS_SHA256}"
    assert pins["minilm"].max_tokens == minilm.TOKENS


def test_the_metrics_are_those_defined(twin: Twin) -> None:
    text = twin.section("4.1")
    pins, metrics = twin.edition.metrics, metrics_for(twin.edition)
    cutoffs = ", ".join(map(str, pins.cutoffs))
    for family in ("recall_any@k", "recall_frac@k", "recall_all@k"):
        row = next(line for line in text.splitlines() if line.startswith(f"| `{family}`"))
        assert row.endswith(f"| {cutoffs} |")
    for metric in (f"MRR@{pins.mrr_depth}", f"nDCG@{pins.ndcg_depth}", *pins.headline):
        assert f"`{metric}`" in text
        assert metric in metrics


def test_depth_default_k_and_settings_are_those_pinned(twin: Twin) -> None:
    pins, settings = twin.edition.retrieval, twin.edition.settings
    assert f"k = {pins.depth} serves every cutoff" in twin.section("4.2")
    assert f"{pins.default_k} unless given" in twin.section("4.2")
    assert f"at k = {pins.timed_k}" in twin.section("4.2")
    rows = twin.section("4.3")
    assert f"| `pgmnemo.gate_strict` | `{settings['gate_strict']}`" in rows
    assert f"| `pgmnemo.recency_weight` | {settings['recency_weight']:.2f} |" in rows
    assert len(settings) == 2


@pytest.mark.parametrize("version", WITH_PASSAGES)
def test_passages_are_cut_as_pinned(version: str) -> None:
    pins, text = edition(version).passages, twin_of(version).section("2.6")
    assert pins is not None
    assert f"up to {pins.turns} consecutive turns of people, a new one every {pins.step} turns" in text
    assert f"the first {pins.characters} characters" in text


@pytest.mark.parametrize("version", WITH_PASSAGES)
def test_the_components_are_those_of_the_newest_engine(version: str) -> None:
    newest, text = edition(version).engine("99"), twin_of(version).section("4.2")
    assert tuple(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) == newest.components
    assert f"From {newest.since} on {COUNTS[len(newest.components)]} act" in text


def test_an_engine_of_lessons_has_five_components(twin: Twin) -> None:
    assert twin.edition.engine("0.2.1").components == ("cosine", "bm25", "recency", "importance", "graph")


@pytest.mark.parametrize(
    ("version", "passages"),
    [("0.2.1", False), ("0.2.9", False), ("0.3.0", True), ("0.3.0-rc1", True), ("0.10.0", True), ("", False)],
)
def test_an_engine_is_the_newest_that_is_not_newer_than_a_version(version: str, passages: bool) -> None:
    assert current().engine(version).passages is passages
    assert not edition("1.1.0").engine(version).passages


def test_the_arms_are_those_described(twin: Twin) -> None:
    named = re.findall(r"^- (.*?):", twin.section("4.6"), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(named))) == {"pgmnemo", *twin.edition.arms, "ceiling"}


def test_the_variance_bands_are_those_pinned(twin: Twin) -> None:
    rows = twin.section("6")
    for metric in ("recall_any@10", "MRR@50"):
        bands = [f"± {twin.edition.variance[suite][metric]:.3f}" for suite in ("longmemeval", "locomo")]
        assert f"`{metric}` | {bands[0]} | {bands[1]} |" in rows


def test_scopes_and_views_are_those_of_the_suites(twin: Twin) -> None:
    assert "`all`" in twin.section("4.7")
    for pins in twin.edition.suites.values():
        for view in pins.views:
            assert f"`{view.name}`" in twin.section("4.7")
        for scope in pins.scopes:
            assert f"| `{scope}` |" in twin.section("4.4")


def test_every_gate_has_its_row(twin: Twin) -> None:
    rows = re.findall(r"^\| `(\w+)`", twin.section("5"), re.MULTILINE)
    assert sorted(rows) == sorted(twin.edition.gates)


def test_the_intervals_are_called_by_the_names_in_use(twin: Twin) -> None:
    text = " ".join(twin.section("4.8").split())
    for clustered in (True, False):
        for name in interval_methods(clustered, twin.edition.metrics.code).values():
            method, _, how = name.partition(", ")
            assert f"*{method}*" in text
            assert f"*{how}*" in text


def test_the_artefacts_are_those_written(twin: Twin) -> None:
    assert set(twin.edition.artefacts.required) == {*COMPLETE, MANIFEST}
    for name in twin.edition.artefacts.required:
        assert f"| `{name}` |" in twin.section("7")


@pytest.mark.parametrize(
    "number", ["2.1", "2.2", "2.2.1", "3.1", "3.2", "4.1", "4.2", "4.3", *map(str, range(1, 11))]
)
def test_every_section_of_1_0_0_keeps_its_number(twin: Twin, number: str) -> None:
    assert twin.section(number)


def test_it_says_that_no_canonical_result_exists(twin: Twin) -> None:
    assert f"No canonical result under {twin.edition.version} exists yet" in twin.body
    assert "owed" in twin.section("9")
