"""The pages whose blocks run: the blocks, what each page installs, and the test that runs them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MARK = "<!-- not run here: "
BLOCK = re.compile(
    rf"^(?P<mark>{re.escape(MARK)}[^\n]+\n\n)?```(?P<language>\w+)\n(?P<text>.+?)^```", re.M | re.S
)
RUNNABLE = ("python", "bash", "sh", "sql", "console")
FILE = "tests/docs/test_pages.py"
HERE = f"{FILE}::test_every_block_runs_and_prints_what_is_shown"
ADAPTER = "tests/pgmnemo/integrations/test_frameworks.py::test_the_page_runs_in_a_folder"
GUIDE = "tests/test_measure.py::test_every_block_runs_and_prints_what_is_shown"
FIRST = "tests/sql/test_readme.py::test_the_first_program_recalls_and_after_a_restart_remembers"
TESTS = {  # those of the pages that HERE does not run
    "README.md": f"{FIRST}[README.md]",
    "pgmnemo/README.md": f"{FIRST}[pgmnemo/README.md]",
    "docs/integrations/anthropic.md": f"{ADAPTER}[anthropic]",
    "docs/integrations/hermes.md": (
        "tests/pgmnemo/integrations/test_hermes.py::test_the_page_runs_in_a_folder"
    ),
    "docs/integrations/hooks.md": "tests/pgmnemo/hooks/test_page.py",
    "docs/integrations/http.md": "tests/pgmnemo/http/test_page_of_http.py",
    "docs/integrations/agent-framework.md": f"{ADAPTER}[agent-framework]",
    "docs/integrations/pydantic-ai.md": f"{ADAPTER}[pydantic-ai]",
    "docs/integrations/crewai.md": f"{ADAPTER}[crewai]",
    "docs/integrations/google-adk.md": f"{ADAPTER}[google-adk]",
    "docs/integrations/index.md": f"{ADAPTER}[index]",
    "docs/integrations/langchain.md": f"{ADAPTER}[langchain]",
    "docs/integrations/langgraph.md": f"{ADAPTER}[langgraph]",
    "docs/integrations/llamaindex.md": f"{ADAPTER}[llamaindex]",
    "docs/integrations/openai-agents.md": f"{ADAPTER}[openai-agents]",
    "docs/integrations/mcp.md": "tests/pgmnemo/mcp/test_page.py",
    "docs/integrations/typescript.md": "tests/clients/test_typescript.py::test_the_page_runs",
    "docs/examples.md": "tests/examples/test_page.py",
    "docs/explanation/score.md": f"{FILE}::test_the_figures_of_the_worked_example_are_those_of_the_memory",
    "docs/howto/compare.md": f"{GUIDE}[compare.md]",
    "docs/howto/measure.md": f"{GUIDE}[measure.md]",
    "docs/howto/operating.md": "tests/docs/test_operating.py",
    "docs/trust/check.md": "tests/verify/test_stranger.py",
    "docs/howto/your-data.md": "tests/test_your_data.py::test_every_step_runs_and_prints_what_is_shown",
}
ELSEWHERE = {  # the language of the blocks that such a test runs
    "howto/measure.md": "bash", "howto/compare.md": "bash", "howto/operating.md": "bash",
    "howto/your-data.md": "bash", "trust/check.md": "sh", "README.md": "python",
}  # fmt: skip
INSTALL = re.compile(r"pip install ((?:'[^']+'|[\w.\[\],=-]+| )+)")
MEMORY = (".[local]",)  # what the tutorial installs, for pages that go on from there
RUNNER = (".", "runner")  # what the README installs to measure
INSTALLED = {  # what readers of other pages have: measure.md says what, moving.md is for a program's users
    "docs/howto/compare.md": RUNNER, "docs/howto/measure.md": RUNNER, "docs/howto/verify.md": RUNNER,
    "docs/howto/your-data.md": RUNNER, "docs/trust/check.md": RUNNER,
    "docs/howto/moving.md": (*MEMORY, "langgraph"),
}  # fmt: skip


def blocks(page: str, heading: str = "") -> list[re.Match[str]]:
    """All of a page below docs/, or those below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    begin = text.index(f"\n## {heading}\n") if heading else 0
    return list(
        BLOCK.finditer(text, begin, f"{text}\n## ".index("\n## ", begin + 1) if heading else len(text))
    )


def runs(block: re.Match[str]) -> bool:
    """Whether a block runs in tests; what it installs is tried by tools/try_pages.py."""
    return block["language"] in RUNNABLE and not block["mark"] and "pip install" not in block["text"]


def run_blocks(page: str) -> list[re.Match[str]]:
    """The blocks of a page of the checkout that its test runs."""
    text = (ROOT / page).read_text(encoding="utf-8")
    language = ELSEWHERE.get(page.removeprefix("docs/"), "")
    return [one for one in BLOCK.finditer(text) if runs(one) and language in ("", one["language"])]


def installs(page: str) -> tuple[str, ...]:
    """What a reader of a page of the checkout has installed: `.[local]`, `runner`, names of packages."""
    named = INSTALL.search((ROOT / page).read_text(encoding="utf-8"))
    if page in INSTALLED or not named:
        return INSTALLED.get(page, MEMORY)
    words = shlex.split(named[1].replace("-c constraints.txt", ""))
    return tuple(word for word in words if word != "-e")
