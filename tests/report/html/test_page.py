"""The file itself: the same every time, small enough, safe, and with nothing to fetch."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from pgmnemo.errors import OutputError
from runner.protocol.editions import current
from runner.records import Verdict
from runner.report.formats import Figures
from runner.report.html import PAGE, CorpusTexts, render_page
from runner.report.html.summary import standfirst
from runner.runs.results import read_results
from tests.helping import kept_run

MEGABYTE = 1_000_000


class Outline(HTMLParser):
    """The elements and attributes of a page, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data


def test_the_same_run_gives_the_same_bytes(sample: Any) -> None:
    assert sample.page() == sample.page()


def test_the_curves_of_recall_end_at_the_last_rank_that_is_kept(sample: Any) -> None:
    assert set(re.findall(r'data-depth="(\d+)"', sample.page())) == {str(current().retrieval.depth)}


def test_what_was_measured_beside_a_run_is_no_leg_of_it() -> None:
    results = read_results(kept_run("beam"))
    figures = Figures(results.metrics, results.run.headline_view)
    *_, legs, beside = standfirst(results.metrics, figures, results.run)
    assert re.match(r"The best single leg, (bm25|keyword|vector|cosine) alone, reaches ", legs)
    assert re.match(r"The best of what was measured beside it, [\w@.+:=-]+, reaches ", beside)


@pytest.mark.parametrize("which", ["locomo", "large"])
def test_a_page_of_2_000_questions_is_no_larger_than_2_megabytes(
    which: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    size = len(request.getfixturevalue(which).page().encode())
    with capsys.disabled():
        print(f"\n{PAGE} of {which}: {size:,} bytes")
    assert size <= 2 * MEGABYTE


def test_nothing_in_it_names_another_place(locomo: Any) -> None:
    outline = Outline(locomo.page())
    for tag, attributes in outline.tags:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith("#"), (tag, value)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {tag for tag, _ in outline.tags}
    assert "url(" not in locomo.page().split("</style>")[0]


def test_names_of_the_corpus_cannot_become_markup(large: Any) -> None:
    page = large.page()
    assert "<script>alert" not in page
    outline = Outline(page)
    assert len(outline.scripts) == 3
    header = json.loads(outline.scripts[0])
    assert header["questions"][0] == large.rows[0].question
    assert header["types"] == ["multi-hop", "temporal", large.rows[2].type]


def test_the_policy_allows_this_script_alone(sample: Any) -> None:
    page = sample.page()
    policy = re.search(r"script-src 'sha256-([^']+)'", page)
    assert policy
    script = Outline(page).scripts[-1]
    assert policy[1] == b64encode(sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in page


def test_the_components_are_those_that_the_run_names(large: Any, sample: Any) -> None:
    for run, columns in ((large, 10), (sample, len(sample.run.components))):
        header = json.loads(Outline(run.page()).scripts[0])
        assert [part["name"] for part in header["parts"]] == list(run.run.components)
        assert sum(name.startswith("part.") and name.endswith(".0") for name in header["columns"]) == columns
    weights = {part["name"]: part["weight"] for part in json.loads(Outline(large.page()).scripts[0])["parts"]}
    assert (weights["passage_cosine"], weights["bm25"]) == (18.0, 1.0)


def test_a_blocked_run_has_no_page(sample: Any) -> None:
    with pytest.raises(OutputError, match="is blocked and has no report"):
        render_page(sample.metrics, replace(sample.run, verdict=Verdict.BLOCKED), sample.rows, sample.timings)


def test_a_run_without_a_ranking_has_no_page(sample: Any) -> None:
    with pytest.raises(OutputError, match="has no ranking to show"):
        render_page(sample.metrics, sample.run, [], sample.timings)


def test_a_run_that_timed_nothing_has_no_section_on_time(sample: Any) -> None:
    assert 'id="latency"' not in render_page(sample.metrics, sample.run, sample.rows, [])


def test_text_stands_in_the_page_only_where_it_was_given(sample: Any) -> None:
    row = sample.rows[0]
    texts = CorpusTexts({row.question: "What & <b>who</b>?"}, {(row.project, row.gold[0]): "Ada: </script>"})
    page = sample.page(texts=texts)
    header = json.loads(Outline(page).scripts[0])
    assert header["texts"]["questions"][0] == "What & <b>who</b>?"
    assert header["texts"]["segments"][row.project][row.gold[0]] == "Ada: </script>"
    assert "is not to be committed or published" in page
    assert json.loads(Outline(sample.page()).scripts[0])["texts"] is None


def test_more_text_than_fits_is_cut_alike(sample: Any) -> None:
    from runner.report.html.gold_ranks import ranks_by_scope
    from runner.report.html.questions import texts_of

    scopes = ranks_by_scope(sample.rows)
    ids = {(row.project, one) for row in sample.rows for one in (*row.gold, *(h.id for h in row.ranking))}
    texts = texts_of(scopes, "pgmnemo", {}, dict.fromkeys(ids, "x" * 500), budget=1000)
    lengths = {len(words) for listed in texts["segments"].values() for words in listed.values()}
    assert lengths == {texts["cut"]}
    assert texts["cut"] > 0


def test_a_page_without_texts_says_how_to_add_them(sample: Any) -> None:
    hint = "<code>python -m runner report DIR --corpus PATH --output FILE</code>"
    assert hint in sample.page()
    assert hint not in sample.page(texts=CorpusTexts({}, {}))
