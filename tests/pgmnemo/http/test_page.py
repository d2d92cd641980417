"""The page as a person uses it: a real browser, a real server, a memory of a few dozen lessons."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import HTTPServer, SimpleHTTPRequestHandler
from typing import Any

import pytest

from pgmnemo import Item, Memory, Scope
from pgmnemo.client.records import CAUSES
from pgmnemo.http.auth import Limits
from pgmnemo.http.page import FOLDER
from pgmnemo.http.page import page as page_of
from pgmnemo.http.tokens import Principal, TokenFile
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.http.browsing import PHONE, WIDE, Visit, serving

NOW = datetime(2026, 11, 26, 9, 30, tzinfo=UTC)
ODD = '<b>bold</b> <img src=x onerror="window.hurt=1"> </script><script>window.hurt=2</script> & ‮txet'
ARABIC = "ساعدني أخي في الانتقال إلى لشبونة في مايو."
LONG = "\n\n".join(f"{n}. We spoke about the billing service and who owns it." for n in range(600))
Visiting = Callable[..., AbstractContextManager[Visit]]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> TokenFile:
    return TokenFile(tmp_path_factory.mktemp("tokens") / "tokens.json")


@pytest.fixture(scope="module")
def address(place: Place, tokens: TokenFile) -> Iterator[str]:
    with serving(place.dsn(), tokens=tokens, limits=Limits(rate=10_000)) as url:
        yield url


@pytest.fixture
def visit(browser: Any, address: str) -> Visiting:
    """A tab that must keep silent, but for what is `expected`, and ask nobody but the server."""

    @contextmanager
    def visiting(
        token: str = "", project: str = "", *, url: str = address, expected: str = "nothing", **options: Any
    ) -> Iterator[Visit]:
        context = browser.new_context(**{**WIDE, **options})
        try:
            tab = Visit(context.new_page(), url)
            if token:
                tab.enter(token, project)
            yield tab
            assert [one for one in tab.said if expected not in one] == []
            assert [one for one in tab.asked if not one.startswith((url, "data:"))] == []
        finally:
            context.close()

    return visiting


def fill(scope: Scope) -> None:
    scope.add_many(
        Item(f"Standup {n}: table {n} moved.", f"standup-{n}", at=NOW - timedelta(days=40 + n))
        for n in range(24)
    )
    scope.add("I moved to Lisbon in May, to a flat near the river.", key="lisbon", role="user", topic="home",
              at=NOW, importance=4, metadata={"source": "chat", "turns": [1, 2]})  # fmt: skip
    scope.add("I live in Porto.", key="porto", role="user", topic="home", at=NOW - timedelta(days=400))
    scope.supersede("porto", "lisbon", reason=f"she moved {ODD}", at=NOW - timedelta(days=9))
    scope.add("The river is cold in spring.", key="cold", at=NOW - timedelta(days=3))
    scope.add(
        ODD, key=ODD[:60], role=ODD[:40], topic=ODD[:50], metadata={ODD[:30]: ODD}, at=NOW - timedelta(days=4)
    )
    scope.add(ARABIC, key="arabic", at=NOW - timedelta(days=5))
    scope.add(LONG, key="long", at=NOW - timedelta(days=6))


def new_house(open_memory: Callable[..., Memory], place: Place, tokens: TokenFile) -> tuple[Scope, str]:
    """A project of a new tenant, and a token of the tenant."""
    tenant = place.tenant()
    scope = open_memory().tenant(tenant).project("kitchen")
    fill(scope)
    return scope, tokens.create(tenant)


house = pytest.fixture(scope="module", name="house")(new_house)
"""Its lessons no test changes."""
own = pytest.fixture(name="own")(new_house)
"""One of a test's own."""


def test_it_comes_as_one_answer_under_a_strict_policy() -> None:
    body, headers = page_of()
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(rb'(src|href)="(?!data:)|\son\w+="|style="', body)
    assert b"innerHTML" not in body
    assert b"data-tokens" not in body
    assert b'data-tokens="none"' in page_of(tokens=False)[0]


def test_it_is_small() -> None:
    files = [path for path in FOLDER.iterdir() if path.suffix in (".html", ".css", ".js")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 600


def test_it_names_every_part_of_a_score_as_the_library_does() -> None:
    script = (FOLDER / "page.js").read_text(encoding="utf-8")
    assert dict(re.findall(r'(\w+): \["([^"]+)", "\w+"\]', script)) == CAUSES


def test_a_person_searches_and_sees_why(visit: Visiting, house: tuple[Scope, str]) -> None:
    scope, token = house
    with visit(token, "kitchen") as tab:
        assert tab.text("#status") == "29 lessons, the newest first"
        assert len(tab.texts()) == 10
        assert tab.texts()[1] == ARABIC
        tab.search("river in May")
        hits = scope.recall("river in May")
        assert tab.text("#status") == f"The best {len(hits)} lessons for “river in May”"
        assert [one[:20] for one in tab.texts()][:2] == [hit.text[:20] for hit in hits[:2]]
        first = tab.page.locator("#hits li").first
        assert "user" in first.inner_text()
        assert "home" in first.inner_text()
        assert "2026" in first.inner_text()
        first.locator("summary").click()
        shares = {name: value for name, value in hits[0].shares().items() if abs(value) >= 0.005}
        told = first.locator(".bars div:not(.sum)")
        assert told.locator("dt").all_inner_texts() == [CAUSES[name] for name in shares]
        numbers = [one.replace("\N{MINUS SIGN}", "-") for one in told.locator(".number").all_inner_texts()]
        for number, value in zip(numbers, shares.values(), strict=True):
            assert float(number) == pytest.approx(value, abs=0.03)  # recency moves on
        widths = told.locator(".bar i").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().width)"
        )
        assert widths == sorted(widths, reverse=True)
        assert widths[0] > widths[-1]
        assert "chat" in first.locator(".facts").inner_text()
        last = "all => all.map((one) => one.lastChild.nodeName)"
        assert "#text" not in tab.page.locator("#hits details").evaluate_all(last)  # where no metadata are
        tab.page.click("#newest")
        tab.page.locator("#status", has_text="newest first").wait_for()


def test_a_lesson_shows_everything_and_its_timeline(visit: Visiting, own: tuple[Scope, str]) -> None:
    scope, token = own
    with visit(token) as tab:  # all projects of the tenant
        tab.search("river in May")
        tab.open("I moved")
        body = tab.text("#lesson")
        for part in (
            "user",
            "home",
            "4 of 5",
            "lisbon",
            "source",
            "chat",
            "I live in Porto.",
            "because: she moved",
        ):
            assert part in body
        tab.page.click("#lesson summary")
        assert "bm25" in tab.text("#lesson table")
        tab.page.locator(".steps li", has_text="Porto").get_by_role("button", name="Open").click()
        tab.page.locator(".steps .here", has_text="Porto").wait_for()
        assert "replaced" in tab.text("#lesson .meta")
        tab.act("Undo the replacement")
        tab.told("It holds again.")
    assert scope.get("porto").superseded_at is None


COVERED = """node => { const box = node.getBoundingClientRect();
  return !node.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)); }"""


@pytest.mark.parametrize("screen", [WIDE, PHONE])
def test_what_is_said_of_a_change_covers_no_button(
    visit: Visiting, own: tuple[Scope, str], screen: dict[str, Any]
) -> None:
    with visit(own[1], "kitchen", **screen) as tab:
        tab.open("The river is cold")
        tab.act("Edit")
        tab.page.fill("#field-topic", "weather")
        tab.act("Save")
        tab.told("Saved.")
        for part in ("header button", ".acts button", "#done button"):
            for button in tab.page.locator(f"#lesson {part}").all():
                assert not button.evaluate(COVERED), button.inner_text()


def test_a_person_edits(visit: Visiting, own: tuple[Scope, str]) -> None:
    scope, token = own
    with visit(token, "kitchen") as tab:
        tab.open("The river is cold")
        before = scope.get("cold")
        tab.act("Edit")
        tab.act("Save")
        tab.told("Nothing was changed.")
        assert scope.get("cold") == before
        tab.act("Edit")
        tab.page.fill("#field-topic", "weather")
        tab.page.fill("#field-metadata", "[1]")
        tab.act("Save")
        assert "not JSON such as" in tab.text("#lesson .wrong")
        tab.page.fill("#field-metadata", '{"place": "Lisbon", "n": 9007199254740993}')
        tab.act("Save")
        tab.told("Saved.")
        tab.page.locator("#lesson .facts", has_text="9007199254740993").wait_for()
        kept = scope.get("cold")
        assert (kept.topic, kept.metadata, kept.at, kept.text) == (
            "weather", {"place": "Lisbon", "n": 2**53 + 1}, NOW - timedelta(days=3), before.text,
        )  # fmt: skip
        tab.act("Edit")
        tab.page.fill("#field-text", "The river is warm in June.")
        tab.page.fill("#field-topic", "")
        tab.page.fill("#field-role", "user")
        tab.page.fill("#field-metadata", "")
        tab.act("Save")
        tab.page.locator("#lesson .text", has_text="warm").first.wait_for()
        kept = scope.get("cold")
        assert (kept.text, kept.topic, kept.role, kept.metadata) == (
            "The river is warm in June.", None, "user", {},
        )  # fmt: skip
        tab.act("Edit")
        tab.page.fill("#field-text", " ")
        tab.act("Save")
        tab.page.locator("#lesson .wrong", has_text="text").wait_for()  # the server's sentence
        tab.page.once("dialog", lambda dialog: dialog.dismiss())  # leave? no
        tab.page.keyboard.press("Escape")
        assert tab.page.is_visible("#field-text")
        tab.page.once("dialog", lambda dialog: dialog.accept())
        tab.page.keyboard.press("Escape")
        assert tab.page.is_visible(".steps")
        tab.said = [one for one in tab.said if "422" not in one]


def test_a_person_replaces(visit: Visiting, own: tuple[Scope, str]) -> None:
    scope, token = own
    with visit(token, "kitchen") as tab:
        tab.open("I moved")
        tab.act("Replace")
        tab.page.fill("#field-text", "I moved to Faro.")
        tab.page.fill("#field-reason", "a new job")
        tab.act("Replace")
        tab.told("Replaced.")
        tab.page.locator(".steps .here", has_text="Faro").wait_for()
    steps = scope.timeline("lisbon")
    assert [step.text[:12] for step in steps] == ["I live in Po", "I moved to L", "I moved to F"]
    assert steps[1].reason == "a new job"
    new = scope.get(steps[2].key)
    assert (new.role, new.topic, new.importance, new.metadata["source"]) == ("user", "home", 4, "chat")


def test_a_person_forgets_and_takes_it_back(visit: Visiting, own: tuple[Scope, str]) -> None:
    scope, token = own
    with visit(token, "kitchen") as tab:
        tab.open("The river is cold")
        tab.act("Forget")
        assert "The river is cold in spring." in tab.text("#sure")
        assert "cold" in tab.text("#sure .mono")
        tab.page.click("text=Keep it")
        assert scope.get("cold").active
        tab.act("Forget")
        tab.page.locator("#sure").get_by_role("button", name="Forget").click()
        tab.told("Forgotten: “The river is cold in spring.”")
        assert not scope.get("cold").active
        assert not any("cold" in one for one in tab.texts())
        tab.page.locator("#done").get_by_role("button", name="Undo").click()
        tab.told("It is back.")
        assert scope.get("cold").active
        tab.open("The river is cold")
        tab.act("Forget")
        tab.page.check("#permanent")
        tab.page.locator("#sure").get_by_role("button", name="Forget").click()
        tab.told("Deleted")
        assert tab.page.locator("#done").get_by_role("button", name="Undo").count() == 0
        assert scope.get("cold") is None


def test_texts_are_shown_as_they_are(visit: Visiting, house: tuple[Scope, str]) -> None:
    _, token = house
    with visit(token, "kitchen") as tab:
        assert ODD in tab.texts()
        arabic = tab.page.locator("#hits .text", has_text=ARABIC)
        assert arabic.evaluate("one => getComputedStyle(one).direction") == "rtl"
        for start in ("I moved", "<b>bold"):
            tab.open(start)
            assert ODD in tab.page.inner_text("#lesson").replace("\xa0", " ")
            tab.act("Close")
        tab.open("0. We spoke")
        tab.act(f"Show all {len(LONG):,} characters")
        assert len(tab.page.locator("#lesson .text").first.text_content()) == len(LONG)
        tab.act("Close")
        tab.choose(ODD)
        assert tab.text("#empty h2") == f"Nothing is remembered in “{ODD[:60].rstrip()}…” yet"
        assert tab.page.evaluate("window.hurt") is None
        assert tab.page.locator("b, img").count() == 0


def test_states_that_are_no_list(
    visit: Visiting,
    house: tuple[Scope, str],
    place: Place,
    tokens: TokenFile,
) -> None:
    _, token = house
    empty = tokens.create(place.tenant())
    with visit(empty, expected="ERR_INTERNET_DISCONNECTED") as tab:
        assert tab.text("#empty h2") == "Nothing is remembered here yet"
        assert "mnemo add" in tab.text("#empty")
        assert tab.text("#status") == "Empty"
        tab.page.context.set_offline(True)
        tab.page.fill("#question", "river")
        tab.page.click("#search button")
        tab.page.locator("#fault", has_text="cannot be reached").wait_for()
        tab.page.context.set_offline(False)
        tab.page.click("#fault button")
        tab.page.locator("#empty").wait_for()
        assert not tab.page.is_visible("#fault")
    with visit(token, "kitchen", expected="503") as tab:
        busy = {
            "status": 503,
            "json": {"error": {"kind": "busy", "message": "too many are asking; try again"}},
        }
        tab.page.route("**/v1/recall", lambda route: route.fulfill(**busy), times=1)
        tab.search("river")
        assert tab.text("#fault p") == "Too many are asking; try again"
        assert tab.texts() == []
        held: list[Any] = []
        tab.page.route("**/v1/recall", lambda route: held.append(route), times=2)
        tab.page.click("#fault button")
        tab.page.locator("#status", has_text="Searching…").wait_for()
        tab.page.fill("#question", "cold")  # another question before the first is answered
        tab.page.press("#question", "Enter")
        while len(held) < 2:
            tab.page.wait_for_timeout(10)
        held[1].continue_()
        tab.page.locator("#status", has_text="for “cold”").wait_for()
        tab.page.route("**/v1/recall", lambda route: route.fulfill(json=[]), times=1)
        tab.search("nothing of it")
        assert tab.text("#empty h2") == "Nothing found"
        assert "29 lessons" in tab.text("#empty p")


def test_there_are_a_hundred_at_most(
    visit: Visiting, open_memory: Callable[..., Memory], place: Place, tokens: TokenFile
) -> None:
    tenant = place.tenant()
    open_memory().tenant(tenant).project("kitchen").add_many([f"note {n} of the river" for n in range(1200)])
    with visit(tokens.create(tenant)) as tab:
        assert tab.text("#status") == "1,200 lessons, the newest first"
        for verb, shown in (("list", 10), ("recall", 10)):
            if verb == "recall":
                tab.search("river")
            while tab.page.is_visible("#more"):
                assert len(tab.texts()) == shown
                with tab.answer(verb):
                    tab.page.click("#more")
                shown = min(shown + 20, 100)
                tab.page.locator("#hits li").nth(shown - 1).wait_for()
                tab.settle()
            assert len(tab.texts()) == 100
            assert "100 are shown at most" in tab.text("#end")


def test_two_tokens_and_one_that_is_revoked(
    visit: Visiting,
    house: tuple[Scope, str],
    open_memory: Callable[..., Memory],
    place: Place,
    tokens: TokenFile,
) -> None:
    _, first = house
    tenant = place.tenant()
    open_memory().tenant(tenant).project("attic").add("A trunk of letters.", key="lisbon")
    second = tokens.create(tenant, "attic")
    with visit(expected="401") as tab:
        tab.page.fill("#token", "nonsense")
        tab.page.click("#enter button")
        tab.page.locator("#refused", has_text="This token is none").wait_for()
    with visit(first, "kitchen", expected="401") as tab:
        tab.search("river")
        tab.open("I moved")
        tab.act("Close")
        tab.page.click("#leave")
        assert "river" not in tab.page.content()
        assert tab.page.evaluate("sessionStorage.length") == 0
        assert tab.focused() == "token"
        tab.enter(second)
        assert tab.texts() == ["A trunk of letters."]
        assert not tab.page.is_visible("#place")
        tab.page.reload()
        tab.page.wait_for_selector("#hits li")
        tab.search("Lisbon river flat")
        assert "river" not in " ".join(tab.texts())
        tokens.revoke(next(one.id for one in tokens.principals() if one.tenant == tenant))
        tab.page.press("#question", "Enter")
        tab.page.locator("#refused", has_text="revoked").wait_for()
        assert "trunk" not in tab.page.content()
        assert tab.page.evaluate("sessionStorage.length") == 0


def test_a_server_without_tokens_opens_at_once(
    visit: Visiting, place: Place, open_memory: Callable[..., Memory]
) -> None:
    tenant = place.tenant()
    open_memory().tenant(tenant).project("attic").add("A trunk of letters.")
    principal = Principal(id="-", tenant=tenant, made_at=NOW)
    with serving(place.dsn(), tokens=None, principal=principal) as url, visit(url=url) as tab:
        tab.page.wait_for_selector("#hits li")
        assert tab.texts() == ["A trunk of letters."]
        assert not tab.page.is_visible("#leave")


FROM_ANOTHER_PAGE = """async ([url, headers, mode]) => {
  const body = '{"all_lessons": true}';
  try { return (await fetch(url + "v1/forget", {method: "POST", mode, headers, body})).status; }
  catch (error) { return "refused"; }
}"""


def test_a_page_of_another_local_port_changes_nothing(browser: Any, place: Place) -> None:
    tenant = place.tenant()
    with Memory.open(place.dsn(), embedder=None) as memory:
        memory.tenant(tenant).project("kitchen").add("The key is in the drawer.", key="k")
        principal = Principal(id="-", tenant=tenant, made_at=NOW)
        other = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with serving(place.dsn(), tokens=None, principal=principal) as url:
            page = browser.new_page()
            for name in ("127.0.0.1", "localhost"):
                page.goto(f"http://{name}:{other.server_port}/")
                for kind in ("text/plain", "application/json"):
                    for mode in ("no-cors", "cors"):
                        page.evaluate(FROM_ANOTHER_PAGE, [url, {"Content-Type": kind}, mode])
            assert memory.tenant(tenant).count().lessons == 1
            page.goto(url)
            assert page.evaluate(FROM_ANOTHER_PAGE, [url, {"Content-Type": "text/plain"}, "cors"]) == 415
            own = [url, {"Content-Type": "application/json"}, "cors"]
            assert page.evaluate(FROM_ANOTHER_PAGE, own) == 200
            page.close()
        other.shutdown()
        other.server_close()
        assert memory.tenant(tenant).count().lessons == 0


def test_the_keyboard_does(visit: Visiting, own: tuple[Scope, str]) -> None:
    scope, token = own
    with visit() as tab:
        press, write = tab.page.keyboard.press, tab.page.keyboard.insert_text
        assert tab.focused() == "token"
        write(token)
        press("Enter")
        tab.page.wait_for_selector("#hits li")
        assert tab.focused() == "question"
        press("ArrowDown")
        press("ArrowDown")
        press("ArrowUp")
        press("ArrowUp")
        assert tab.focused() == "question"
        press("Escape")
        press("ArrowDown")
        press("/")
        assert tab.focused() == "question"
        write("cold spring")
        with tab.answer("recall"):
            press("Enter")
        tab.settle()
        press("ArrowDown")
        press("Tab")
        press("Space")  # why
        assert tab.page.locator("#hits li").first.locator(".bars").is_visible()
        press("Shift+Tab")
        press("Enter")
        tab.page.wait_for_selector(".steps")
        press("Escape")
        assert tab.focused() == "Open"
        assert tab.page.locator("#hits li:first-child .open:focus").count() == 1
        press("Enter")
        tab.page.wait_for_selector(".acts")
        tab.page.locator("#lesson .last").focus()
        press("Enter")
        assert tab.focused() == "Keep it"
        press("Escape")
        assert scope.get("cold").active
        assert tab.focused() == "Forget"
        press("Enter")
        press("Tab")
        press("Enter")
        tab.told("Forgotten")
        assert not scope.get("cold").active
        assert tab.focused() == "question"


@pytest.mark.parametrize(("scheme", "screen"), [("light", WIDE), ("dark", PHONE)])
def test_axe_finds_nothing(
    visit: Visiting, house: tuple[Scope, str], scheme: str, screen: dict[str, Any]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found: list[str] = []

    def look(state: str, tab: Visit) -> None:
        for one in axe.run(tab.page).response["violations"]:
            found.append(f"{state}: {one['id']}: {[node['html'][:200] for node in one['nodes'][:2]]}")
        for part in ("document.documentElement", "document.querySelector('#lesson')"):
            if tab.page.evaluate(f"{part}.scrollWidth > {part}.clientWidth"):
                found.append(f"{state}: {part} scrolls sideways")

    _, token = house
    with visit(color_scheme=scheme, reduced_motion="reduce", expected="ERR_", **screen) as tab:
        look("the login", tab)
        tab.enter(token, "kitchen")
        look("the newest", tab)
        tab.search("river in May")
        tab.page.locator("#hits summary").first.click()
        look("why", tab)
        tab.open("I moved")
        tab.page.click("#lesson summary")
        tab.page.wait_for_selector("#lesson table")
        look("a lesson", tab)
        tab.act("Forget")
        look("sure", tab)
        tab.page.click("text=Keep it")
        tab.act("Edit")
        look("an edit", tab)
        tab.act("Save")
        tab.told("Nothing")
        look("said", tab)
        tab.act("Close")
        tab.choose("attic")
        look("empty", tab)
        tab.page.context.set_offline(True)
        tab.page.press("#question", "Enter")
        tab.page.locator("#fault").wait_for()
        look("offline", tab)
    assert found == []
