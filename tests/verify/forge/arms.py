"""Forgeries of arms: dropped, emptied, renamed and invented."""

from __future__ import annotations

from random import Random

from runner.systems import kind_of
from tests.verify.forge.draft import Draft, Inapplicable
from tests.verify.forge.table import claim


def _without(draft: Draft, arm: str) -> None:
    if all(one["name"] != arm for one in draft.run["arms"]):
        raise Inapplicable
    draft.run["arms"] = [one for one in draft.run["arms"] if one["name"] != arm]
    draft.raw = [line for line in draft.raw if line["arm"] != arm]


@claim("arms dropped", "the strongest control")
def _bm25(draft: Draft, chance: Random) -> None:
    _without(draft, "bm25")


@claim("arms dropped", "the mode that is better")
def _keyword(draft: Draft, chance: Random) -> None:
    _without(draft, "keyword")


@claim("arms dropped", "every control")
def _controls(draft: Draft, chance: Random) -> None:
    for arm in ("cosine", "random"):
        _without(draft, arm)


@claim("arms emptied", "a control")
def _emptied(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["bm25", "cosine"])):
        line["ranking"] = []


@claim("arms emptied", "a leg")
def _leg(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["keyword", "vector"])):
        line["ranking"] = []


@claim("arms emptied", "as failed")
def _failed(draft: Draft, chance: Random) -> None:
    next(one for one in draft.run["arms"] if one["name"] == "bm25")["failed"] = "no answer"
    draft.raw = [line for line in draft.raw if line["arm"] != "bm25"]


@claim("arms emptied", "a leg cut to its first ten")
def _leg_cut(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["keyword", "vector", "bm25"])):
        del line["ranking"][10:]


@claim("arms emptied", "a control of half its ranks")
def _control_cut(draft: Draft, chance: Random) -> None:
    for line in draft.block(chance.choice(["cosine", "random"])):
        del line["ranking"][len(line["ranking"]) // 2 :]


@claim("arms emptied", "a control in one question")
def _once(draft: Draft, chance: Random) -> None:
    chance.choice(draft.block("random"))["ranking"] = []


@claim("arms emptied", "a leg called failed that answered")
def _called_failed(draft: Draft, chance: Random) -> None:
    next(one for one in draft.run["arms"] if one["name"] == "vector")["failed"] = "out of memory"
    draft.raw = [line for line in draft.raw if line["arm"] != "vector"]


def _rename(draft: Draft, arm: str, other: str) -> None:
    for one in draft.run["arms"]:
        one["name"] = other if one["name"] == arm else one["name"]
    for line in (*draft.raw, *draft.timings):
        line["arm"] = other if line["arm"] == arm else line["arm"]


@claim("arms renamed", "random as mem0")
def _mem0(draft: Draft, chance: Random) -> None:
    _rename(draft, "random", "mem0")


@claim("arms renamed", "bm25 as lucene")
def _lucene(draft: Draft, chance: Random) -> None:
    _rename(draft, "bm25", "lucene")


@claim("arms renamed", "the arm under test as another system")
def _under_test(draft: Draft, chance: Random) -> None:
    _rename(draft, "pgmnemo", "lexical")
    draft.run["choice"]["system"] = "lexical"


@claim("arms renamed", "two exchange their names")
def _two(draft: Draft, chance: Random) -> None:
    for arm, other in (("bm25", "x"), ("cosine", "bm25"), ("x", "cosine")):
        _rename(draft, arm, other)


def _invent(draft: Draft, name: str, title: str, source: str) -> None:
    arm = next(one for one in draft.run["arms"] if one["name"] == "random")
    draft.run["arms"].append({**arm, "name": name, "title": title, "role": "system", "words": "a peer"})
    draft.raw += [{**line, "arm": name} for line in draft.block(source)]
    draft.timings += [{**line, "arm": name} for line in draft.timings if line["arm"] == "pgmnemo"]


@claim("arms invented", "a peer that ranks at random")
def _peer(draft: Draft, chance: Random) -> None:
    _invent(draft, "mem0", "Mem0", "random")


@claim("arms invented", "a system of the house, chosen, that ranks at random")
def _house(draft: Draft, chance: Random) -> None:
    draft.run["choice"]["systems"] = ["bm25s"]
    _invent(draft, "bm25s", kind_of("bm25s").title, "random")
