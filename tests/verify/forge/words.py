"""Forgeries of gates, verdict, deviations, figures and report: what is said of a run."""

from __future__ import annotations

from random import Random
from typing import Any

from runner.protocol.editions import edition
from runner.protocol.metrics import DIFFERENCES
from runner.records import Json
from tests.verify.forge.draft import Draft, Inapplicable
from tests.verify.forge.table import claim


def _gate(run: Json, name: str) -> Json:
    return next(gate for gate in run["gates"] if gate["gate"] == name)


@claim("deviations", "in milder words, as its gate says them")
def _milder(draft: Draft, chance: Random) -> None:
    def change(run: Json) -> None:
        if not run["deviations"]:
            raise Inapplicable
        gate = next(gate for gate in run["gates"] if gate["status"] not in ("passed", "noted"))
        name, said = run["deviations"][0].split(": ", 1)
        gate["found"] = gate["found"].replace(said, "as good as canonical")
        run["deviations"][0] = f"{name}: as good as canonical"

    draft.last.append(change)


@claim("deviations", "of the list alone, in milder words")
def _list(draft: Draft, chance: Random) -> None:
    def change(run: Json) -> None:
        if not run["deviations"]:
            raise Inapplicable
        run["deviations"] = ["embedder: nothing that matters"]

    draft.last.append(change)


@claim("deviations", "a gate passed that did not")
def _passed(draft: Draft, chance: Random) -> None:
    def change(run: Json) -> None:
        if not run["deviations"]:
            raise Inapplicable
        for gate in run["gates"]:
            gate["status"] = "passed"
        run |= {"verdict": "verified", "deviations": []}

    draft.last.append(change)


@claim("deviations", "the words of a gate that passed")
def _words(draft: Draft, chance: Random) -> None:
    name = chance.choice(["dataset", "version", "seed", "scope", "tree", "retrievals", "shape"])
    draft.last.append(lambda run: _gate(run, name).update(found="better than expected"))


@claim("deviations", "the words of a gate that needs the corpus")
def _coverage(draft: Draft, chance: Random) -> None:
    name = chance.choice(["coverage", "leak"])
    draft.last.append(lambda run: _gate(run, name).update(found="better than expected"))


@claim("deviations", "a gate left out")
def _gate_dropped(draft: Draft, chance: Random) -> None:
    name = chance.choice(["dataset", "leak", "tree", "scope"])
    draft.last.append(lambda run: run["gates"].remove(_gate(run, name)))


@claim("verdict", "a better one")
def _verdict(draft: Draft, chance: Random) -> None:
    def change(run: Json) -> None:
        if run["verdict"] == "verified":
            raise Inapplicable
        run |= {"verdict": "verified", "deviations": []}

    draft.last.append(change)


@claim("verdict", "canonical, of a corpus that is citable")
def _canonical(draft: Draft, chance: Random) -> None:
    draft.run["corpus"]["citable"] = True
    draft.last.append(lambda run: run.update(verdict="verified", deviations=[]))


@claim("metric code", "figures by another version")
def _code(draft: Draft, chance: Random) -> None:
    draft.code = next(code for code in DIFFERENCES if code != _edition(draft).metrics.code)


@claim("metric code", "another version is named")
def _named(draft: Draft, chance: Random) -> None:
    draft.figures.append(lambda figures: figures.update(metric_code="9.0.0"))


def _edition(draft: Draft) -> Any:
    return edition(draft.run["protocol"]["version"])


@claim("figures", "one value")
def _value(draft: Draft, chance: Random) -> None:
    draft.figures.append(lambda figures: figures["results"][0].update(value=1.0))


@claim("figures", "one interval")
def _interval(draft: Draft, chance: Random) -> None:
    def change(figures: Json) -> None:
        row = next(row for row in figures["results"] if row["ci95_low"] not in (None, row["value"]))
        row["ci95_low"] = row["value"]

    draft.figures.append(change)


@claim("figures", "a difference")
def _difference(draft: Draft, chance: Random) -> None:
    draft.figures.append(lambda figures: figures["differences"][0].update(value=0.5))


@claim("figures", "a row left out")
def _row(draft: Draft, chance: Random) -> None:
    draft.figures.append(lambda figures: figures["results"].pop())


@claim("figures", "the report alone")
def _report(draft: Draft, chance: Random) -> None:
    draft.words.append(lambda text: text.replace("| pgmnemo", "| **pgmnemo**", 1) + "\nBest of all.\n")
