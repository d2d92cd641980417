"""Tests common to the integrations: a missing package, and the example of each page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.pgmnemo.integrations.conftest import FOLDER, needs
from tests.pgmnemo.postgres.embedded.serving import new_base
from tests.reader import GIVEN, Session

MISSING = {  # the integration: the module that is not there, and what is said of it
    "anthropic": ("anthropic", "install the extra: "), "langgraph": ("langgraph.store.base", ""),
    "langchain": ("langchain_core", "this integration needs langchain-core, which is not installed: "),
    "llamaindex": ("llama_index", "this integration needs llama-index-core, which is not installed: "),
    "google-adk": ("google.adk", "this integration needs google-adk, which is not installed: "),
    "crewai": ("crewai", "this integration needs crewai, which is not installed: "),
    "pydantic-ai": ("pydantic_ai", "this integration needs pydantic-ai-slim, which is not installed: "),
    "agent-framework": (
        "agent_framework", "this integration needs agent-framework-core, which is not installed: "
    ),
    "openai-agents": ("agents", "this integration needs openai-agents, which is not installed: "),
}  # fmt: skip
PAGES = {
    "anthropic": (), "langgraph": ("['I moved to Lisbon in May.']\n",),
    "langchain": ("Ships to Portugal", "TX-4071"), "llamaindex": ("TX-4071", "> I moved to Lisbon in May."),
    "index": ("['monday']",), "openai-agents": ("recall_memory", "\nI moved to Lisbon in May.\n"),
    "google-adk": ("['I moved to Lisbon in May.']",), "pydantic-ai": ("> I moved to Lisbon in May.",),
    "crewai": ("['I moved to Lisbon in May.']",), "agent-framework": ("> I moved to Lisbon in May.",),
}  # fmt: skip
IN_FOLDER = {
    "google-adk": "google.adk",
    "crewai": "crewai",
}  # frameworks that the environment of the tests lacks


@pytest.mark.parametrize("name", MISSING)
def test_a_framework_that_is_missing_is_one_sentence_that_says_what_to_install(name: str) -> None:
    module, said = MISSING[name]
    code = (
        f"import sys; sys.modules['{module}'] = None\nfrom pgmnemo.errors import PgmnemoError\n"
        f"try: import pgmnemo.integrations.{name.replace('-', '_')}\n"
        "except PgmnemoError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"{said}pip install '.[{name}]' in a checkout of pgmnemo\n")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("name", PAGES)
def test_the_page_runs_in_a_folder(name: str, page: Callable[[str], list[str]]) -> None:
    if name in IN_FOLDER and not GIVEN:
        needs(IN_FOLDER[name])
    blocks = page(f"integrations/{name}.md")
    assert blocks
    with new_base() as base:
        path = {"PYTHONPATH": str(FOLDER)} if name in IN_FOLDER and not GIVEN else {}
        session = Session(base, CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", **path)
        told = "".join(map(session.run, blocks))
        session.close()
    assert [part for part in PAGES[name] if part not in told] == []
