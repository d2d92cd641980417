"""Which forgeries 0.3.1's tools found, beside today's: `python -m tests.verify.before.forgeries`.

The forgeries are those of tests/verify/forge, made of two committed runs that 0.3.1's tools know; a forgery
of what their run.json does not say is left out. It takes some minutes.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from runner.errors import RunnerError
from runner.records import Json
from runner.runs.former import brought_up
from runner.verify import verify
from tests.verify.before.former import ROOT, Tools, former
from tests.verify.forge import test_forge
from tests.verify.forge.draft import Draft, Inapplicable, read, written
from tests.verify.forge.table import FORGERIES, Forgery

RUNS = [ROOT / "benchmarks/sample/results" / f"v{number}_20261121_minilm" for number in ("0.3.0", "0.3.1")]
UNSAID = (Inapplicable, RunnerError, LookupError, TypeError)  # what is forged, an old run does not say


@dataclass(frozen=True, slots=True)
class Made:
    """A forgery that was made, and where."""

    kind: str
    folder: Path


def made(home: Path) -> Iterator[Made]:
    """Each forgery of each run: those of run.json of the newer run alone, as `make forge` has it."""
    for source in RUNS:
        honest = of_today(source)
        for number, one in enumerate(FORGERIES):
            if one.newest and source is not RUNS[-1]:
                continue
            place = home / f"{source.name}-{number}"
            try:
                yield Made(one.kind, _forged(honest, one, Random(f"{test_forge.SEED} {one.words}"), place))
            except UNSAID:
                shutil.rmtree(place, ignore_errors=True)


def of_today(source: Path) -> Draft:
    """An old run as a draft in today's form, which is written in its own."""
    known = read(source)
    return replace(known, run=brought_up(deepcopy(known.run)), form=partial(_former, known.run))


def _forged(honest: Draft, one: Forgery, chance: Random, place: Path) -> Path:
    draft = deepcopy(honest)
    one.change(draft, chance)
    said = replace(draft, run=draft.form(draft.run)) != replace(honest, run=honest.form(honest.run))
    if not said:
        raise Inapplicable
    return written(draft, place)


def _former(shape: Json, run: Json) -> Json:
    """A document of today's form in that of an older run: brought_up the other way round."""
    choice = run["choice"]
    corpus = {**run["corpus"], "suite": choice["suite"], "granularity": choice["level"]}
    own = {
        "pgmnemo_version": choice["version"],
        "options": {name: choice[name] for name in shape["options"]},
        "corpus": {name: corpus[name] for name in shape["corpus"]},
        "arms": [{name: arm[name] for name in shape["arms"][0]} for arm in run["arms"]],
    }
    return {name: own[name] if name in own else run[name] for name in shape}


def table(tools: Tools, forgeries: list[Made]) -> str:
    """By class: how many were made, and found then and now, without and with the corpus."""
    columns = ("made", "before", "before with corpus", "now", "now with corpus")
    rows: dict[str, Counter[str]] = {}
    folders = [one.folder for one in forgeries]
    before = tools.faults([(folder, None) for folder in folders])
    more = tools.faults([(folder, test_forge.CORPUS) for folder in folders])
    for one, bare, whole in zip(forgeries, before, more, strict=True):
        history = one.folder.parent / "HISTORY.md"
        found = bool(verify(one.folder, history=history).faults)
        also = found or bool(verify(one.folder, history=history, corpus=test_forge.CORPUS).faults)
        rows.setdefault(one.kind, Counter(dict.fromkeys(columns, 0))).update(
            dict(zip(columns, (1, bool(bare), bool(bare or whole), found, also), strict=True))
        )
    total = sum(rows.values(), Counter(dict.fromkeys(columns, 0)))
    lines = [(kind, rows[kind]) for kind in sorted(rows)] + [(f"**all {len(rows)} classes**", total)]
    return "\n".join(
        [
            "| Class | Made | 0.3.1 | 0.3.1 with `--corpus` | Now | Now with `--corpus` |",
            "|---|---|---|---|---|---|",
            *(f"| {kind} | {' | '.join(str(row[what]) for what in columns)} |" for kind, row in lines),
        ]
    )


def main() -> None:
    """Print the table, after holding that both tools find nothing in the honest runs."""
    with former() as tools, TemporaryDirectory() as home:
        honest = [written(of_today(source), Path(home) / source.name) for source in RUNS]
        faults = tools.faults([(folder, test_forge.CORPUS) for folder in honest])
        assert not any(faults), faults
        print(table(tools, list(made(Path(home)))))


if __name__ == "__main__":
    main()
