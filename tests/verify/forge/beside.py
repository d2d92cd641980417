"""Forgeries of what stands beside or behind the system under test, and of editions: of runs that have it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from runner.database.releases import SQL_FOLDER, release_fingerprint
from runner.records import Json
from tests.verify.forge.draft import Draft, Inapplicable
from tests.verify.forge.rankings import ids
from tests.verify.forge.releases import later
from tests.verify.forge.table import forgery

PEERS = "realtalk/results/v0.4.0_20261122_minilm_side-by-side"
TURNS = "realtalk/results/v0.4.1_20261123_minilm_turn_rerank-linear_side-by-side"
OLDER = "pgmnemo@0.3.1"


def _lacking(draft: Draft) -> Iterator[Json]:
    """The reranked answers without any gold."""
    found = [one for one in draft.raw if one["arm"].endswith("+rerank") and not {*one["gold"]} & {*ids(one)}]
    if not found:
        raise Inapplicable
    yield from found


@forgery("reranked answers", "gold first that the base never found", of=TURNS)
def _found(draft: Draft, chance: Random) -> None:
    for line in _lacking(draft):
        line["ranking"][0] = [line["gold"][0], *line["ranking"][0][1:]]


@forgery("reranked answers", "the last of them another, in one question", of=TURNS)
def _last(draft: Draft, chance: Random) -> None:
    line = next(_lacking(draft))
    line["ranking"][-1] = line["gold"][0]


def _counted(draft: Draft, **changes: int) -> None:
    if not draft.reranks:
        raise Inapplicable
    for one in draft.reranks:
        one |= {name: max(0, one[name] + more) for name, more in changes.items()}


@forgery("reranks counted", "fewer pairs", of=TURNS)
def _fewer(draft: Draft, chance: Random) -> None:
    _counted(draft, pairs=-40)


@forgery("reranks counted", "more pairs than there are candidates", of=TURNS)
def _more(draft: Draft, chance: Random) -> None:
    _counted(draft, pairs=950)


@forgery("reranks counted", "as if read from a cache", of=TURNS)
def _cached(draft: Draft, chance: Random) -> None:
    for one in draft.reranks:
        one |= {"pairs": 0, "cached": one["pairs"]}


def _without(draft: Draft, names: set[str]) -> None:
    if not names:
        raise Inapplicable
    draft.run["arms"] = [one for one in draft.run["arms"] if one["name"] not in names]
    draft.raw = [line for line in draft.raw if line["arm"] not in names]
    draft.timings = [line for line in draft.timings if line["arm"] not in names]


def _parted(draft: Draft) -> list[str]:
    return [one["name"] for one in draft.run["arms"] if one["name"].endswith("+passages")]


@forgery("passages of peers dropped", "of every peer", of=PEERS)
def _all_parts(draft: Draft, chance: Random) -> None:
    _without(draft, {*_parted(draft)})


@forgery("passages of peers dropped", "of the best peer", of=PEERS)
def _one_part(draft: Draft, chance: Random) -> None:
    _without(draft, {*_parted(draft)[:1]})


@forgery("passages of peers dropped", "of every peer, and lessons are said to have one each", of=PEERS)
def _no_parts(draft: Draft, chance: Random) -> None:
    _all_parts(draft, chance)
    draft.run["passages"] = dict.fromkeys(("count", "distinct"), draft.run["corpus"]["segments"])


def _renamed(draft: Draft, new: str, **more: object) -> None:
    """The older pgmnemo beside is another one, and so is what stands behind it."""
    if OLDER not in draft.run["choice"]["systems"]:
        raise Inapplicable
    systems = draft.run["choice"]["systems"]
    draft.run["choice"]["systems"] = [new if one == OLDER else one for one in systems]
    for one in draft.run["arms"]:
        if one["name"].removesuffix("+rerank") == OLDER:
            one |= {"name": one["name"].replace(OLDER, new), **more}
    for line in (*draft.raw, *draft.timings, *draft.reranks):
        line["arm"] = line["arm"].replace(OLDER, new)


@forgery("peers renamed", "to another version, with its fingerprint and components", of=TURNS)
def _version(draft: Draft, chance: Random) -> None:
    _renamed(draft, "pgmnemo@0.4.0", version="0.4.0")


@forgery(
    "peers renamed", "to the release before, which gives the same answers, with its fingerprint", of=TURNS
)
def _same(draft: Draft, chance: Random) -> None:
    facts = {"fingerprint": release_fingerprint(SQL_FOLDER, "0.3.0"), "pgvector": "0.8.5"}
    _renamed(draft, "pgmnemo@0.3.0", version="0.3.0", facts=facts)


@forgery("edition", "a later one is cited, with all that it asks for", of=TURNS)
def _edition(draft: Draft, chance: Random) -> None:
    later(draft)
