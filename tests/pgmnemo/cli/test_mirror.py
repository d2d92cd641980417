"""The command mirrors the library: a verb is a command, its keywords are options, with the same defaults."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from cyclopts import App

from pgmnemo import Memory, Scope
from pgmnemo.cli.commands import COMMANDS, app

OTHER = {
    "project": "the option --project", "add_many": "import takes many", "known": "it is there for importers",
    "close": "a command closes what it opened", "tenant": "the option --tenant",
    "open": "the option --memory", "with_": "the option --with",
}  # fmt: skip
"""Verbs without a command, and why."""
VECTOR = {"vector": "hundreds of numbers are for programs"}
LEFT_OUT: dict[str, dict[str, str]] = {
    "add": {
        **VECTOR,
        "passages": "texts are cut by the protocol's rule",
        "passage_vectors": VECTOR["vector"],
    },
    "recall": VECTOR,
    "context": {**VECTOR, "count": "a function"},
    "explain": VECTOR,
    "export": {"progress": "as on every terminal; --quiet", "vectors": "--no-vectors"},
    "import_": {"progress": "as on every terminal; --quiet"},
    "recut": {"progress": "as on every terminal; --quiet"},
    "reembed": {"progress": "as on every terminal; --quiet"},
}
"""Keywords without an option, and why."""
RENAMED = {"export": {"place": "file"}}
COMMAND_ONLY = {"tidy", "init", "upgrade", "completion", "doctor", "hook", "serve", "mcp", "token"}
SHARED = {"memory", "tenant", "project", "json", "quiet", "all_projects", "embedder"}
PRESENTED = {
    "add": {"turns"}, "recall": {"why", "full", "with"}, "context": {"with"}, "list": {"full"},
    "forget": {"yes"}, "export": {"no_vectors"},
    "import": {"from", "skip_faults", "dated", "whole", "tools", "refresh", "keep_secrets"},
}  # fmt: skip
"""Options of a command that no keyword has."""


def verbs() -> dict[str, Any]:
    found = {"grant": Memory.grant}
    for name, verb in inspect.getmembers(Scope, inspect.isfunction):
        if not name.startswith("_"):
            found[name] = verb
    return {name: verb for name, verb in found.items() if name not in OTHER}


def command(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


@pytest.fixture(scope="module")
def top() -> App:
    return app()


def options(top: App, name: str) -> dict[str, Any]:
    """Of a command, the names of its parameters as the library would write them, with their defaults."""
    found = {}
    for argument in top[name].assemble_argument_collection():
        if not argument.names[0].startswith("*"):
            told = argument.names[0].lstrip("-").lower().replace("-", "_")
            default = argument.field_info.default
            found[told] = None if default is argument.field_info.empty else default
    return found


def test_every_verb_is_a_command() -> None:
    named = {name for commands in COMMANDS.values() for name in commands}
    assert named - COMMAND_ONLY == {command(name) for name in verbs()}


@pytest.mark.parametrize("verb", sorted(verbs()))
def test_every_keyword_is_an_option(top: App, verb: str) -> None:
    given = options(top, command(verb))
    renamed, left_out = RENAMED.get(verb, {}), LEFT_OUT.get(verb, {})
    keywords = {
        renamed.get(name, name): one.default
        for name, one in inspect.signature(verbs()[verb]).parameters.items()
        if name != "self" and name not in left_out
    }
    assert set(given) - SHARED - PRESENTED.get(command(verb), set()) == set(keywords) - SHARED
    assert not set(left_out) & set(given)
    for name, default in keywords.items():
        if default is not inspect.Parameter.empty:
            assert given[name] == default, name


def test_options_of_the_memory_have_the_defaults_of_the_library(top: App) -> None:
    assert options(top, "add")["embedder"] == inspect.signature(Memory.open).parameters["embedder"].default
