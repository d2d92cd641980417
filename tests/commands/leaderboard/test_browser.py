"""The page in a real browser: nothing is fetched, nothing complained of, nothing in the way of anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.commands.leaderboard import leaderboard
from runner.commands.leaderboard.page import page


@pytest.fixture(scope="module")
def place(base: Path, check: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page") / "board.html"
    place.write_text(page(leaderboard([f"{base}/*"], check=check), place), encoding="utf-8")
    return place


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 800), ("light", 390)])
def test_it_opens_from_disk_alone_and_is_accessible(
    browser: Any, place: Path, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    shown, said, asked = context.new_page(), [], []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(place.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (said, asked) == ([], [place.as_uri()])
    faults = axe.Axe().run(shown).response["violations"]
    assert [fault["id"] for fault in faults] == []
    context.close()


def test_on_a_phone_a_row_is_a_card_that_names_its_figures(browser: Any, place: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 900})
    shown = context.new_page()
    shown.goto(place.as_uri())
    cells = shown.locator(".board tbody tr >> nth=0").locator("td[data-label]")
    boxes = [cells.nth(at).bounding_box() for at in range(cells.count())]
    assert len(boxes) == 5
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert len({box["y"] for box in boxes}) == 5
    context.close()
