"""The page in a real browser: silent, self-contained, usable by keyboard, without a serious barrier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.report.formats import MISSING

SERIOUS = ("serious", "critical")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
VISIBLE = ".q:not([hidden])"


def count(page: Any) -> str:
    """What the page says of the questions that are left, once it has filtered."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return str(page.inner_text("#count"))


def become(page: Any, selector: str, number: int) -> None:
    """Wait until so many elements match: what opens is filled when the browser tells the script."""
    page.wait_for_function(
        "([selector, number]) => document.querySelectorAll(selector).length === number",
        arg=[selector, number],
    )


def faults(page: Any) -> list[str]:
    """What axe finds that is serious or worse."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    violations = axe.run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in violations
        if one["impact"] in SERIOUS
        for node in one["nodes"][:3]
    ]


@pytest.mark.parametrize(
    ("which", "options"),
    [("page_file", {}), ("page_file", PHONE), ("compared_file", {"color_scheme": "dark"})],
)
def test_it_says_nothing_on_the_console_and_asks_for_nothing(
    browser: Any, opened: Any, which: str, options: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    with opened(browser, request.getfixturevalue(which), **options) as watched:
        page = watched.page
        for question in page.query_selector_all(f"{VISIBLE} > summary")[:3]:
            question.click()
        become(page, ".detail", 3)
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider == 0, "the page scrolls sideways"


@pytest.mark.parametrize(("which", "scheme"), [("page_file", "dark"), ("compared_file", "light")])
def test_axe_finds_no_serious_fault(
    browser: Any, opened: Any, which: str, scheme: str, request: pytest.FixtureRequest
) -> None:
    with opened(browser, request.getfixturevalue(which), color_scheme=scheme) as watched:
        page = watched.page
        page.fill("input[name=search]", "q1" if which == "page_file" else "a")
        count(page)
        page.evaluate(f"document.querySelectorAll('{VISIBLE}').forEach((q, i) => {{ q.open = i < 2 }})")
        page.evaluate("document.querySelectorAll('#facts details').forEach((one) => { one.open = true })")
        page.evaluate(f"[...document.querySelectorAll('{VISIBLE}')].slice(9).forEach((q) => q.remove())")
        page.evaluate(
            "document.querySelectorAll('.q[hidden]').forEach((q) => q.remove())"
        )  # 2,000 take axe long
        assert faults(page) == []


def test_a_barrier_would_be_found(browser: Any, opened: Any, compared_file: Path) -> None:
    with opened(browser, compared_file) as watched:
        watched.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
        assert any(fault.startswith("button-name") for fault in faults(watched.page))


@pytest.mark.parametrize("script", ["console.warn('no')", "fetch('http://127.0.0.1:9/').catch(() => {})"])
def test_a_word_on_the_console_or_a_request_would_be_found(
    browser: Any, opened: Any, compared_file: Path, script: str
) -> None:
    def provoke() -> None:
        with opened(browser, compared_file) as watched:
            watched.page.evaluate(script)
            watched.page.wait_for_timeout(100)

    with pytest.raises(AssertionError):
        provoke()


def test_questions_are_filtered_and_opened_by_keyboard_alone(
    browser: Any, opened: Any, page_file: Path
) -> None:
    with opened(browser, page_file) as watched:
        page, keyboard = watched.page, watched.page.keyboard
        page.focus("input[name=search]")
        keyboard.type("q1999")
        assert count(page).startswith("1 of 2,000 questions")
        keyboard.press("Control+a")
        keyboard.press("Delete")
        assert count(page).startswith("2,000 of 2,000 questions")
        keyboard.press("Tab")
        keyboard.press("m")  # chooses multi-hop
        assert count(page).startswith("667 of 2,000 questions")
        for _ in range(7):  # past the other fields, to the first question
            keyboard.press("Tab")
        assert page.evaluate("document.activeElement.parentElement.className") == "q"
        keyboard.press("ArrowDown")
        keyboard.press("Enter")
        become(page, "details.q[open] .ranking", 1)
        opened_key = page.inner_text("details.q[open] .name")
        assert opened_key.startswith("q3 ")  # q0 and q3 are the first two of the type
        assert page.locator("details.q[open] .ranking > li").count() >= 10
        keyboard.press("Enter")
        become(page, "details.q[open]", 0)
        become(page, ".detail", 0)


def test_an_opened_question_shows_its_ranking_with_parts_and_gold(
    browser: Any, opened: Any, page_file: Path, large: Any
) -> None:
    row = next(r for r in large.rows if (r.arm, r.scope) == ("pgmnemo", "conversation"))
    with opened(browser, page_file) as watched:
        page = watched.page
        page.click(f"{VISIBLE} > summary")
        shown = page.eval_on_selector_all(".ranking .id", "all => all.map((one) => one.firstChild.data)")
        assert shown == [hit.id for hit in row.ranking[:10]]
        gold = page.eval_on_selector_all(".ranking > li", "all => all.map((one) => one.className === 'gold')")
        assert gold == [hit.id in row.gold for hit in row.ranking[:10]]
        scores = page.eval_on_selector_all(
            ".ranking .score", "all => all.map((one) => Number(one.textContent))"
        )
        assert scores == pytest.approx([hit.score for hit in row.ranking[:10]], abs=0.0006)
        page.click(".detail > details > summary")
        cells = page.eval_on_selector_all(
            ".detail > details tbody tr:first-child td", "all => all.map((one) => one.textContent)"
        )
        found = [None if cell == MISSING else float(cell) for cell in cells[3:]]
        wanted = [
            None if part is None else pytest.approx(part, abs=6e-4) for part in row.ranking[0].components
        ]
        assert found == wanted[:8]  # the two inactive components are left out
        assert page.inner_text(".ranking > li:first-child .id").startswith(row.ranking[0].id[:8])


def test_filters_count_what_the_metrics_say(browser: Any, opened: Any, page_file: Path, large: Any) -> None:
    value = {
        (row["scope"], row["metric"]): row["value"]
        for row in large.metrics["results"]
        if (row["arm"], row["view"], row["type"]) == ("pgmnemo", "all", "all")
    }
    with opened(browser, page_file) as watched:
        page = watched.page
        page.select_option("[name=result]", "hit")
        assert count(page).startswith(f"{round(2000 * value['conversation', 'recall_any@10']):,} of 2,000")
        page.select_option("[name=hit]", "all@20")
        assert count(page).startswith(f"{round(2000 * value['conversation', 'recall_all@20']):,} of 2,000")
        page.check("#scopes input[value=pool]")
        assert count(page).startswith(f"{round(2000 * value['pool', 'recall_all@20']):,} of 2,000")
        page.click("button[type=reset]")
        assert count(page).startswith("2,000 of 2,000")


def test_won_and_lost_are_those_of_the_raw_rankings(
    browser: Any, opened: Any, page_file: Path, large: Any
) -> None:
    hits: dict[tuple[str, str], bool] = {}
    for row in large.rows:
        if row.scope == "conversation":
            hits[row.arm, row.question] = any(hit.id in row.gold for hit in row.ranking[:5])
    keys = [key for arm, key in hits if arm == "pgmnemo"]
    won = sum(hits["pgmnemo", key] and not hits["random", key] for key in keys)
    lost = sum(hits["random", key] and not hits["pgmnemo", key] for key in keys)
    with opened(browser, page_file) as watched:
        page = watched.page
        page.select_option("[name=hit]", "any@5")
        page.select_option("[name=against]", label="random")
        page.select_option("[name=outcome]", "won")
        assert count(page).startswith(f"{won:,} of 2,000")
        page.select_option("[name=outcome]", "lost")
        assert count(page).startswith(f"{lost:,} of 2,000")


def test_sorting_moves_the_questions(browser: Any, opened: Any, page_file: Path) -> None:
    with opened(browser, page_file) as watched:
        page = watched.page
        page.select_option("[name=sort]", "worst")
        count(page)
        ranks = page.eval_on_selector_all(f"{VISIBLE} .ranks b", "all => all.map((one) => one.textContent)")
        numbers = [99 if rank == MISSING else int(rank) for rank in ranks]
        assert numbers == sorted(numbers, reverse=True)
        assert len(numbers) == 2000


def test_the_switch_overrides_the_colours_of_the_system(browser: Any, opened: Any, page_file: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, page_file, color_scheme="light") as watched:
        page = watched.page
        light = page.evaluate(background)
        page.click("#theme button[data-theme=dark]")
        dark = page.evaluate(background)
        page.click("#theme button[data-theme=auto]")
        assert page.evaluate(background) == light != dark
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(background) == dark


def test_the_slider_reads_off_any_k(browser: Any, opened: Any, page_file: Path, large: Any) -> None:
    wanted = next(
        row["value"] for row in large.metrics["results"]
        if (row["arm"], row["scope"], row["view"], row["type"], row["metric"])
        == ("bm25", "conversation", "all", "all", "recall_frac@5")
    )  # fmt: skip
    with opened(browser, page_file) as watched:
        page = watched.page
        page.focus("#recall input[type=range]")
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        cell = "#recall [data-scope=conversation] tr[data-arm=bm25] td[data-family=recall_frac]"
        assert page.inner_text(cell) == f"{100 * wanted:.1f}"


def test_text_is_shown_where_it_was_given_and_the_compared_run_is_the_opponent(
    browser: Any, opened: Any, compared_file: Path
) -> None:
    with opened(browser, compared_file) as watched:
        page = watched.page
        assert page.eval_on_selector(
            "[name=against]", "one => one.selectedOptions[0].textContent"
        ).startswith("v0.2.1 (")
        page.click(f"{VISIBLE} > summary")
        assert "</script><script>alert('1')</script>" in page.inner_text(".detail .asked")
        page.click(".ranking details summary")
        assert len(page.inner_text(".ranking details[open] p")) > 20


def test_a_link_opens_its_question(browser: Any, opened: Any, page_file: Path) -> None:
    with opened(browser, page_file) as watched:
        watched.page.click(f"{VISIBLE}:nth-child(5) > summary")
        become(watched.page, ".detail", 1)
        link = watched.page.url
    with opened(browser, page_file) as watched:
        watched.page.goto(link)
        watched.page.reload()
        shown = watched.page.locator("details.q[open] .name")
        shown.wait_for()
        assert shown.text_content().startswith("q4 ")
        watched.asked[:] = watched.asked[:1]


def test_without_a_script_the_figures_stand(browser: Any, opened: Any, page_file: Path) -> None:
    with opened(browser, page_file, java_script_enabled=False) as watched:
        page = watched.page
        assert page.locator("svg.recall:visible").count() == 6  # three recalls in two scopes
        assert page.locator("noscript .warning").count() == 1


def test_a_printed_page_has_the_plots_and_no_list(browser: Any, opened: Any, page_file: Path) -> None:
    with opened(browser, page_file, color_scheme="dark") as watched:
        page = watched.page
        page.emulate_media(media="print")
        assert page.locator("svg.recall:visible").count() == 3
        assert page.locator(".q:visible").count() == 0
        assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(27, 26, 23)"
