"""The bench of the servers, and the table that ends a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pgmnemo.postgres.embedded.serving import new_base
from tests.servers.bench import Bench, opened

OUTCOMES = {"passed": "passed", "failed": "FAILED", "skipped": "not here"}


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    with new_base() as folder, opened(folder) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each cell: passed, refused, not here or FAILED, and what there is to say of it."""
    rows = []
    for outcome, word in OUTCOMES.items():
        for report in terminalreporter.stats.get(outcome, []):
            told = dict(report.user_properties)
            if "cell" in told:
                why = report.longrepr[2].removeprefix("Skipped: ") if outcome == "skipped" else ""
                rows.append((told["cell"], told.get("outcome", word), told.get("said", "") or why))
    if rows:
        terminalreporter.section("servers")
        width = max(len(row[0]) for row in rows)
        for name, word, said in rows:
            terminalreporter.write_line(f"{name:<{width}}  {word:<8}  {said}".rstrip())
