"""Pages on disk, and how to open one in the browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.commands.compare import compare
from runner.protocol.datasets import SUITES
from runner.report.html import CorpusTexts, PageComparison

ROOT = Path(__file__).parents[4]
AWKWARD = "</script><script>alert('1')</script>\"&amp; 🧭"


class Watched:
    """A page that remembers what it said on the console and what it asked the network for."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)


@pytest.fixture(scope="session")
def opened() -> Callable[..., AbstractContextManager[Watched]]:
    return open_file


@contextmanager
def open_file(browser: Any, file: Path, **options: Any) -> Iterator[Watched]:
    """A page opened from disk, which must say nothing and ask for nothing but itself."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    try:
        watched = Watched(context.new_page(), file.as_uri())
        yield watched
        assert watched.said == []
        assert [url.partition("#")[0] for url in watched.asked] == [file.as_uri()]
    finally:
        context.close()


@pytest.fixture(scope="session")
def page_file(large: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 2,000 questions on disk."""
    return write(tmp_path_factory, large.page())


@pytest.fixture(scope="session")
def compared_file(sample: Any, sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run, with text, beside another of the same questions that does a little worse."""
    corpus = SUITES["sample"].load(ROOT / "benchmarks" / "sample" / "sample.json")
    texts = CorpusTexts(
        {question.key: f"{question.text} {AWKWARD}" for question in corpus.questions},
        {(segment.project, segment.id): segment.text for segment in corpus.segments},
    )
    other = Path(shutil.copytree(sample_folder, tmp_path_factory.mktemp("other") / "run"))
    (other / "manifest.json").write_bytes((other / "manifest.json").read_bytes() + b"\n")  # so, another run
    comparison = compare(other, sample_folder, resamples=200).document()
    worse = [replace(row, ranking=row.ranking[1:]) if row.arm == "pgmnemo" else row for row in sample.rows]
    return write(tmp_path_factory, sample.page(compared_with=PageComparison(comparison, worse), texts=texts))


def write(tmp_path_factory: pytest.TempPathFactory, page: str) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(page, encoding="utf-8")
    return file
