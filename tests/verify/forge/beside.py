"""Forgeries of what stands beside or behind the system under test, and of editions: of runs that have it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pgmnemo.places import SQL_FOLDER
from pgmnemo.server.releases import release_fingerprint
from runner.records import Json
from tests.verify.forge.draft import Draft, Inapplicable, forgery
from tests.verify.forge.rankings import ids

OLDER = "pgmnemo@0.3.1"


def _strange(draft: Draft) -> Iterator[tuple[Json, str]]:
    """Reranked answers within a project, each with an id that its base did not find there."""
    for line in draft.block("pgmnemo+rerank", "conversation"):
        inside = {*ids(line)}
        yield (
            line,
            next(one for other in draft.block("random", "pool") for one in ids(other) if one not in inside),
        )


@forgery("reranked answers", "an id first that the base never found", beside=True)
def _found(draft: Draft, chance: Random) -> None:
    for line, one in _strange(draft):
        line["ranking"][0] = [one, *line["ranking"][0][1:]]


@forgery("reranked answers", "the last of them another, in one question", beside=True)
def _last(draft: Draft, chance: Random) -> None:
    line, one = next(_strange(draft))
    line["ranking"][-1] = [one, *line["ranking"][-1][1:]]


def _counted(draft: Draft, **changes: int) -> None:
    if not draft.reranks:
        raise Inapplicable
    for one in draft.reranks:
        one |= {name: max(0, one[name] + more) for name, more in changes.items()}


@forgery("reranks counted", "fewer pairs", beside=True)
def _fewer(draft: Draft, chance: Random) -> None:
    _counted(draft, pairs=-40)


@forgery("reranks counted", "more pairs than there are candidates", beside=True)
def _more(draft: Draft, chance: Random) -> None:
    _counted(draft, pairs=950)


@forgery("reranks counted", "as if read from a cache", beside=True)
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


@forgery("passages of peers dropped", "of every peer", beside=True)
def _all_parts(draft: Draft, chance: Random) -> None:
    _without(draft, {*_parted(draft)})


@forgery("passages of peers dropped", "of the best peer", beside=True)
def _one_part(draft: Draft, chance: Random) -> None:
    _without(draft, {*_parted(draft)[:1]})


@forgery("passages of peers dropped", "of every peer, and lessons are said to have one each", beside=True)
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


@forgery("peers renamed", "to another version, with its fingerprint and components", beside=True)
def _version(draft: Draft, chance: Random) -> None:
    _renamed(draft, "pgmnemo@0.4.0", version="0.4.0")


@forgery(
    "peers renamed", "to the release before, which gives the same answers, with its fingerprint", beside=True
)
def _same(draft: Draft, chance: Random) -> None:
    facts = {"fingerprint": release_fingerprint(SQL_FOLDER, "0.3.0"), "pgvector": "0.8.5"}
    _renamed(draft, "pgmnemo@0.3.0", version="0.3.0", facts=facts)
