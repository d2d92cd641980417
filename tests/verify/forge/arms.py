"""Forgeries of arms: dropped, emptied, renamed and invented, and of scopes."""

from __future__ import annotations

from random import Random

from runner.systems import spec_of
from tests.verify.forge.draft import Draft, Inapplicable, forgery
from tests.verify.forge.record import put


def _without(draft: Draft, arm: str) -> None:
    if all(one["name"] != arm for one in draft.run["arms"]):
        raise Inapplicable
    draft.run["arms"] = [one for one in draft.run["arms"] if one["name"] != arm]
    draft.raw = [line for line in draft.raw if line["arm"] != arm]


def _rename(draft: Draft, arm: str, other: str) -> None:
    for one in draft.run["arms"]:
        one["name"] = other if one["name"] == arm else one["name"]
    for line in (*draft.raw, *draft.timings):
        line["arm"] = other if line["arm"] == arm else line["arm"]


@forgery("arms renamed", "the arm under test as another system")
def _under_test(draft: Draft, chance: Random) -> None:
    _rename(draft, "pgmnemo", "lexical")
    draft.run["choice"]["system"] = "lexical"


def _invent(draft: Draft, name: str, title: str, source: str) -> None:
    arm = next(one for one in draft.run["arms"] if one["name"] == "random")
    draft.run["arms"].append({**arm, "name": name, "title": title, "role": "system", "words": "a peer"})
    draft.raw += [{**line, "arm": name} for line in draft.block(source)]
    draft.timings += [{**line, "arm": name} for line in draft.timings if line["arm"] == "pgmnemo"]


@forgery("arms invented", "a peer that ranks at random")
def _peer(draft: Draft, chance: Random) -> None:
    _invent(draft, "mem0", "Mem0", "random")


@forgery("arms invented", "a system of the house, chosen, that ranks at random")
def _house(draft: Draft, chance: Random) -> None:
    draft.run["choice"]["baselines"] = ["bm25s"]
    _invent(draft, "bm25s", spec_of("bm25s").title, "random")


@forgery("scopes", "the pool left out")
def _pool(draft: Draft, chance: Random) -> None:
    draft.run["scopes"] = [one for one in draft.run["scopes"] if one["name"] != "pool"]
    draft.raw = [line for line in draft.raw if line["scope"] != "pool"]
    draft.timings = [line for line in draft.timings if line["scope"] != "pool"]


@forgery("scopes", "the pool left out, as chosen")
def _pool_chosen(draft: Draft, chance: Random) -> None:
    _pool(draft, chance)
    put(draft.run, "choice.scopes", ["conversation"])
