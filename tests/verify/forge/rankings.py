"""Forgeries of rankings, scores and components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from runner.records import Json
from tests.verify.forge.draft import Draft, Inapplicable, forgery

CONTROLS = ("bm25", "cosine", "random")


def name(rank: Any) -> str:
    """The id of a rank, whether bare or with score and components."""
    return str(rank if isinstance(rank, str) else rank[0])


def ids(line: Json) -> list[str]:
    return [name(rank) for rank in line["ranking"]]


def renamed(line: Json, other: Sequence[str]) -> None:
    """The ids of a ranking are `other`; scores and components stay where they stand."""
    ranks = zip(line["ranking"], other, strict=True)
    line["ranking"] = [one if isinstance(rank, str) else [one, *rank[1:]] for rank, one in ranks]


def exchanged(line: Json, first: str, second: str) -> None:
    """Two ids change their places."""
    other = {first: second, second: first}
    renamed(line, [other.get(one, one) for one in ids(line)])


def failing(draft: Draft, arms: Sequence[str] = ("pgmnemo",)) -> Iterator[tuple[Json, str]]:
    """(line, an id of its gold) where the gold is in the ranking and not first."""
    found = 0
    for line in draft.raw:
        own = ids(line)
        gold = [one for one in line["gold"] if one in own]
        if line["arm"] in arms and gold and own[0] not in line["gold"]:
            found += 1
            yield line, gold[0]
    if not found:
        raise Inapplicable


def weighted(draft: Draft, parts: Sequence[Any]) -> float:
    """The score that components have under the settings of the run."""
    state, score = draft.run["guc_state"], 0.0
    for component, value in zip(draft.run["arms"][0]["components"], parts, strict=True):
        worth = max(0.0, value or 0.0) if component.endswith("cosine") else value or 0.0
        score += float(state[f"pgmnemo.{component}_weight"]) * worth
    return score


def best(line: Json) -> None:
    """Ranks that have scores stand in the order of these."""
    line["ranking"].sort(key=lambda rank: -rank[1] if isinstance(rank, list) else 0.0)


@forgery("gold first by exchanging ids", "the arm under test, in every question that fails")
def _gold_first(draft: Draft, chance: Random) -> None:
    for line, gold in failing(draft):
        exchanged(line, ids(line)[0], gold)


@forgery("gold first by exchanging ids", "one question")
def _gold_first_once(draft: Draft, chance: Random) -> None:
    line, gold = chance.choice(list(failing(draft)))
    exchanged(line, ids(line)[0], gold)


@forgery("gold first by exchanging ids", "alike in every arm and scope")
def _gold_first_everywhere(draft: Draft, chance: Random) -> None:
    for line, gold in list(failing(draft)):
        first = ids(line)[0]
        for other in draft.raw:
            if other["question"] == line["question"] and other["arm"] != "random":
                exchanged(other, first, gold)


@forgery("gold first by exchanging ids", "one question, alike in every arm and scope")
def _gold_first_once_everywhere(draft: Draft, chance: Random) -> None:
    line, gold = chance.choice(list(failing(draft)))
    first = ids(line)[0]
    for other in draft.raw:
        if other["question"] == line["question"] and other["arm"] != "random":
            exchanged(other, first, gold)


@forgery("gold first by moving ranks", "with scores that fall again")
def _moved(draft: Draft, chance: Random) -> None:
    for line, gold in failing(draft):
        place, scores = ids(line).index(gold), [rank[1] for rank in line["ranking"]]
        line["ranking"].insert(0, line["ranking"].pop(place))
        for rank, score in zip(line["ranking"], scores, strict=True):
            rank[1] = score


@forgery("gold first by moving ranks", "all ranks without components from then on")
def _moved_bare(draft: Draft, chance: Random) -> None:
    for line, gold in failing(draft):
        renamed(line, [gold, *(one for one in ids(line) if one != gold)])
        line["ranking"] = [rank[:2] for rank in line["ranking"]]


@forgery("scores raised", "every score by one tenth")
def _scores(draft: Draft, chance: Random) -> None:
    for line in draft.block("pgmnemo"):
        for rank in line["ranking"]:
            rank[1] = round(rank[1] * 1.1, 4)


def _raise(draft: Draft, component: str, lines: Sequence[tuple[Json, str]]) -> None:
    """So much of a component that the gold comes first, and the score that follows."""
    components = draft.run["arms"][0]["components"]
    if component not in components:
        raise Inapplicable
    place, weight = components.index(component), float(draft.run["guc_state"][f"pgmnemo.{component}_weight"])
    moved = 0
    for line, gold in lines:
        rank = next(rank for rank in line["ranking"] if rank[0] == gold)
        if len(rank) == 3:
            moved += 1
            rank[2][place] = round((rank[2][place] or 0) + (line["ranking"][0][1] - rank[1] + 1) / weight, 4)
            rank[1] = float(f"{weighted(draft, rank[2]):.6g}")
            best(line)
    if not moved:
        raise Inapplicable


@forgery("components changed", "the cosine of the gold, in one scope")
def _cosine(draft: Draft, chance: Random) -> None:
    _raise(draft, "cosine", [pair for pair in failing(draft) if pair[0]["scope"] == "pool"])


@forgery("components changed", "the bm25 of the gold, in both scopes")
def _bm25(draft: Draft, chance: Random) -> None:
    _raise(draft, "bm25", list(failing(draft)))


@forgery("components changed", "the context of the gold, which belongs to the arm")
def _context(draft: Draft, chance: Random) -> None:
    _raise(draft, "context", list(failing(draft)))


@forgery("components changed", "the recency of one lesson, and its score")
def _recency(draft: Draft, chance: Random) -> None:
    _raise(draft, "recency", [chance.choice(list(failing(draft)))])


@forgery("components dropped", "of all ranks")
def _parts_dropped(draft: Draft, chance: Random) -> None:
    for line in draft.block("pgmnemo"):
        line["ranking"] = [rank[:2] for rank in line["ranking"]]


@forgery("controls made worse", "cosine in a drawn order")
def _shuffled(draft: Draft, chance: Random) -> None:
    for line in draft.block("cosine"):
        renamed(line, chance.sample(ids(line), len(line["ranking"])))


@forgery("controls made worse", "random redrawn, with the gold last")
def _unlucky(draft: Draft, chance: Random) -> None:
    for line in draft.block("random"):
        line["ranking"].sort(key=lambda rank: name(rank) in line["gold"])


@forgery("controls made worse", "the gold of bm25 one place lower, where the first ten under test lack it")
def _a_little_worse(draft: Draft, chance: Random) -> None:
    for line in draft.block("bm25", "pool"):
        own = ids(line)
        for gold in line["gold"]:
            if gold in own[:-1]:
                place = own.index(gold)
                exchanged(line, gold, own[place + 1])


@forgery("rankings exchanged", "the arm under test and the best leg")
def _legs(draft: Draft, chance: Random) -> None:
    for one, other in zip(draft.block("pgmnemo"), draft.block("keyword"), strict=True):
        one["ranking"], other["ranking"] = other["ranking"], one["ranking"]


@forgery("rankings exchanged", "cosine and bm25")
def _two_controls(draft: Draft, chance: Random) -> None:
    for one, other in zip(draft.block("cosine"), draft.block("bm25"), strict=True):
        one["ranking"], other["ranking"] = other["ranking"], one["ranking"]


def _as_within(draft: Draft, line: Json, within: Json) -> None:
    """A pool answers as the conversation did, with what it found itself behind, at lower scores."""
    first, place = ids(within), len(within["ranking"])
    old, last = line["ranking"], within["ranking"][-1:]
    rest = [one for one in ids(line) if one not in first]
    line["ranking"] = [*within["ranking"], *rest][: len(old)]
    for rank, template in list(enumerate(old))[place:]:
        if isinstance(template, list):
            score = min(template[1], last[0][1])
            line["ranking"][rank] = [rest[rank - place], score, *template[2:]]


def _raised(draft: Draft, arms: Sequence[str]) -> None:
    inner = {(line["arm"], line["question"]): line for line in draft.raw if line["scope"] != "pool"}
    for line in draft.raw:
        if line["scope"] == "pool" and line["arm"] in arms:
            _as_within(draft, line, inner[line["arm"], line["question"]])


@forgery("pools raised", "to the conversation, in every arm but random")
def _pools(draft: Draft, chance: Random) -> None:
    _raised(draft, {line["arm"] for line in draft.raw} - {"random"})


@forgery("pools raised", "to the conversation, in the arm under test")
def _pool(draft: Draft, chance: Random) -> None:
    _raised(draft, ["pgmnemo"])


@forgery("tails changed", "the gold from behind the tenth rank to the eleventh")
def _tail(draft: Draft, chance: Random) -> None:
    moved = 0
    for line, gold in failing(draft):
        if ids(line).index(gold) > 10:
            exchanged(line, ids(line)[10], gold)
            moved += 1
    if not moved:
        raise Inapplicable


@forgery("tails changed", "the ranking under test cut behind the tenth rank")
def _short(draft: Draft, chance: Random) -> None:
    for line in draft.block("pgmnemo", "pool"):
        del line["ranking"][10:]
