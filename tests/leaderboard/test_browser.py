"""The page in a real browser: nothing is fetched, nothing complained of, nothing in the way of anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.leaderboard import leaderboard
from runner.leaderboard.page import page


@pytest.fixture(scope="module")
def place(base: Path, check: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page") / "board.html"
    place.write_text(page(leaderboard([f"{base}/*"], check=check)), encoding="utf-8")
    return place


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 375])
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
