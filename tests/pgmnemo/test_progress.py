"""What is said of a run's progress where standard error is no terminal, and where it is one."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from pgmnemo.progress import Progress


def lines(progress: Progress) -> list[str]:
    assert isinstance(progress.console.file, io.StringIO)
    return progress.console.file.getvalue().splitlines()


@pytest.fixture
def plain() -> Progress:
    return Progress(console=Console(file=io.StringIO(), width=200))


def test_a_loop_is_said_when_it_is_done(plain: Progress) -> None:
    assert list(plain.track(range(1200), "batches")) == list(range(1200))
    assert lines(plain) == ["batches: 1,200 done"]


def test_a_long_loop_says_now_and_then_how_far_it_is(
    plain: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1_000, 10))
    monkeypatch.setattr("pgmnemo.progress.time.monotonic", lambda: next(clock))
    with plain.total("all answers", 8):
        list(plain.track(range(4), "first", part=True))
    list(plain.track(iter(range(4)), "of no known length"))
    assert lines(plain) == [
        "first: 3 of 4 after 30 s; 38% of all after 0 s", "first: 4 done; 50% of all after 0 s",
        "of no known length: 3 after 30 s", "of no known length: 4 done",
    ]  # fmt: skip


def test_parts_of_a_whole_say_how_far_all_have_come(plain: Progress) -> None:
    with plain.total("all answers", 40):
        plain.pass_over(10)
        list(plain.track(range(10), "first", part=True))
        list(plain.track(range(7), "no part"))
        list(plain.track(range(20), "second", part=True))
    said = lines(plain)
    assert said[0].startswith("first: 10 done; 50% of all after 0 s")
    assert said[1] == "no part: 7 done"
    assert said[2].startswith("second: 20 done; 100% of all")


def test_a_quiet_run_says_nothing() -> None:
    quiet = Progress(quiet=True, console=Console(file=io.StringIO()))
    with quiet.total("all", 3):
        assert list(quiet.track(range(3), "x", part=True)) == [0, 1, 2]
    assert lines(quiet) == []


def test_a_terminal_shows_the_whole_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    shown = Progress(console=Console(file=io.StringIO(), width=100, force_terminal=True))
    with shown.total("all answers", 4):
        for loop in ("first", "second"):
            for _ in shown.track(range(2), loop, part=True):
                shown._whole.bars.refresh()
    written = "\n".join(lines(shown))
    assert "all answers" in written
    assert "second" in written
    assert "3/4" in written
