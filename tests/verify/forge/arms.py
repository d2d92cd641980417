"""Forgeries of arms: dropped, emptied, renamed and invented, and of scopes."""

from __future__ import annotations

from random import Random

from runner.systems import kind_of
from tests.verify.forge.draft import Draft, Inapplicable, forgery
from tests.verify.forge.record import put


def _without(draft: Draft, arm: str) -> None:
    if all(one["name"] != arm for one in draft.run["arms"]):
        raise Inapplicable
    draft.run["arms"] = [one for one in draft.run["arms"] if one["name"] != arm]
    draft.raw = [line for line in draft.raw if line["arm"] != arm]


@forgery("arms dropped", "every control")
def _controls(draft: Draft, chance: Random) -> None:
    for arm in ("cosine", "random"):
        _without(draft, arm)


@forgery("arms emptied", "a control")
def _emptied(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["bm25", "cosine"])):
        line["ranking"] = []


@forgery("arms emptied", "a leg")
def _leg(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["keyword", "vector"])):
        line["ranking"] = []


@forgery("arms emptied", "as failed")
def _failed(draft: Draft, chance: Random) -> None:
    next(one for one in draft.run["arms"] if one["name"] == "bm25")["failed"] = "no answer"
    draft.raw = [line for line in draft.raw if line["arm"] != "bm25"]


@forgery("arms emptied", "a leg cut to its first ten")
def _leg_cut(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["keyword", "vector", "bm25"])):
        del line["ranking"][10:]


def _rename(draft: Draft, arm: str, other: str) -> None:
    for one in draft.run["arms"]:
        one["name"] = other if one["name"] == arm else one["name"]
    for line in (*draft.raw, *draft.timings):
        line["arm"] = other if line["arm"] == arm else line["arm"]


@forgery("arms renamed", "random as mem0")
def _mem0(draft: Draft, chance: Random) -> None:
    _rename(draft, "random", "mem0")


@forgery("arms renamed", "the arm under test as another system")
def _under_test(draft: Draft, chance: Random) -> None:
    _rename(draft, "pgmnemo", "lexical")
    draft.run["choice"]["system"] = "lexical"


@forgery("arms renamed", "two exchange their names")
def _two(draft: Draft, chance: Random) -> None:
    for arm, other in (("bm25", "x"), ("cosine", "bm25"), ("x", "cosine")):
        _rename(draft, arm, other)


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
    draft.run["choice"]["systems"] = ["bm25s"]
    _invent(draft, "bm25s", kind_of("bm25s").title, "random")


@forgery("scopes", "the pool left out")
def _pool(draft: Draft, chance: Random) -> None:
    draft.run["scopes"] = [one for one in draft.run["scopes"] if one["name"] != "pool"]
    draft.raw = [line for line in draft.raw if line["scope"] != "pool"]
    draft.timings = [line for line in draft.timings if line["scope"] != "pool"]


@forgery("scopes", "the pool left out, as chosen")
def _pool_chosen(draft: Draft, chance: Random) -> None:
    _pool(draft, chance)
    put(draft.run, "choice.scopes", ["conversation"])


@forgery("scopes", "the conversation called pool")
def _exchanged(draft: Draft, chance: Random) -> None:
    other = {"conversation": "pool", "pool": "conversation"}
    for line in (*draft.raw, *draft.timings):
        line["scope"] = other[line["scope"]]
    draft.raw.sort(key=lambda line: ([one["name"] for one in draft.run["arms"]].index(line["arm"]),
                                     line["scope"]))  # fmt: skip


@forgery("scopes", "the pool as no pool")
def _pooled(draft: Draft, chance: Random) -> None:
    draft.run["scopes"][1]["pooled"] = False
