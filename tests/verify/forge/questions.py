"""Forgeries of gold, questions, their types and scopes."""

from __future__ import annotations

from random import Random

from tests.verify.forge.draft import Draft, forgery
from tests.verify.forge.rankings import failing, ids


@forgery("gold changed", "the first of the ranking where it fails")
def _gold(draft: Draft, chance: Random) -> None:
    for line, _ in list(failing(draft)):
        for other in draft.raw:
            if other["question"] == line["question"]:
                other["gold"] = [ids(line)[0]]


@forgery("gold changed", "the first of the ranking besides")
def _more_gold(draft: Draft, chance: Random) -> None:
    for line, _ in list(failing(draft)):
        for other in draft.raw:
            if other["question"] == line["question"]:
                other["gold"] = sorted({*other["gold"], ids(line)[0]})


def _drop_failing(draft: Draft) -> int:
    bad = {line["question"] for line, _ in failing(draft)}
    draft.keep({line["question"] for line in draft.raw} - bad)
    return len(bad)


@forgery("questions left out", "those that fail")
def _left_out(draft: Draft, chance: Random) -> None:
    _drop_failing(draft)


@forgery("questions left out", "those that fail, and the corpus counts as many fewer")
def _left_out_of_the_corpus(draft: Draft, chance: Random) -> None:
    number = _drop_failing(draft)
    corpus = draft.run["corpus"]
    corpus["questions"] -= number
    corpus["shape"] |= {what: corpus["shape"][what] - number for what in ("questions", "scored")}


@forgery("questions left out", "those that fail, under a limit that is named")
def _limit(draft: Draft, chance: Random) -> None:
    _drop_failing(draft)
    draft.run["choice"]["limit"] = len({line["question"] for line in draft.raw})


@forgery("questions doubled", "under new names in place of those that fail")
def _new_questions(draft: Draft, chance: Random) -> None:
    bad = {line["question"] for line, _ in failing(draft)}
    good = next(line["question"] for line in draft.raw if line["question"] not in bad)
    known = {(line["arm"], line["scope"]): line for line in draft.raw if line["question"] == good}
    draft.raw = [
        {**known[line["arm"], line["scope"]], "question": line["question"]}
        if line["question"] in bad
        else line
        for line in draft.raw
    ]


@forgery("types changed", "only the best type was asked for")
def _one_type(draft: Draft, chance: Random) -> None:
    kind = chance.choice(sorted({line["type"] for line in draft.raw}))
    draft.keep({line["question"] for line in draft.raw if line["type"] == kind})
    draft.run["choice"]["types"] = [kind]


@forgery("types changed", "what fails is of the type adversarial")
def _relabelled(draft: Draft, chance: Random) -> None:
    bad = {line["question"] for line, _ in failing(draft)}
    for line in draft.raw:
        if line["question"] in bad:
            line["type"] = "adversarial"


@forgery("sizes and projects", "a question of another project")
def _project(draft: Draft, chance: Random) -> None:
    line = chance.choice(draft.raw)
    other = next(one["project"] for one in draft.raw if one["project"] != line["project"])
    for one in draft.raw:
        if one["question"] == line["question"]:
            one["project"] = other
