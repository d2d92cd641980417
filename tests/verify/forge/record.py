"""Forgeries of run.json: what was run, with what, and what is said of it."""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import uuid5

import msgspec

from runner.bench.workload import NAMESPACE, lessons_label
from runner.protocol.editions import edition
from runner.records import Json
from runner.runs.run import Run
from tests.verify.forge.draft import Draft, Inapplicable, forgery


def put(document: Json, path: str, value: Any) -> None:
    """Set what stands at a path with dots; Inapplicable where it is said already, or not known."""
    *steps, last = path.split(".")
    for step in steps:
        document = document[step] if isinstance(document, dict) else document[int(step)]
    if last not in document or document[last] == value:
        raise Inapplicable
    document[last] = value


FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("corpus", "corpus.sha256", "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"),
    ("corpus", "corpus.questions", 1982), ("corpus", "corpus.shape.projects", 10),
    ("corpus", "corpus.shape.edges", 272), ("embedder's pins", "embedder.model", "BAAI/bge-m3"),
    ("embedder's pins", "embedder.revision", "5617a9f61b028005a4858fdac845db406aefb181"),
    ("embedder's pins", "embedder.dimensions", 1024), ("embedder's pins", "embedder.query_prefix", "query: "),
    ("embedder's pins", "embedder.max_tokens", 512), ("embedder's pins", "embedder.note", "mean pooling"),
    ("the choice", "choice.mode", "keyword"), ("the choice", "choice.template", "head"),
    ("the choice", "choice.k", [1, 5]), ("the choice", "choice.passages", "none"),
    ("the choice", "choice.split", "test"), ("the choice", "choice.allow_unregistered_corpus", True),
    ("what arms say", "arms.0.words", "the whole of pgmnemo"),
    ("what arms say", "arms.0.title", "the best memory"), ("what arms say", "arms.0.own_embedder", True),
)  # fmt: skip


def _field(path: str, value: Any) -> Any:
    def change(draft: Draft, chance: Random) -> None:
        put(draft.run, path, value)

    return change


for _kind, _path, _value in FIELDS:
    forgery(_kind, f"{_path} is {str(_value)[:20]}")(_field(_path, _value))


@forgery("views", "one more")
def _more(draft: Draft, chance: Random) -> None:
    kind = chance.choice(draft.raw)["type"]
    draft.run["views"].append({"name": "clean", "without_types": [kind], "without_key": ""})


@forgery("embedder relabelled", "as that of the edition, with its pins, tenant and folder")
def _relabelled(draft: Draft, chance: Random) -> None:
    relabel(draft, "bge-m3")


@forgery("embedder relabelled", "as DRAGON+, with its pins, tenant and folder")
def _dragon(draft: Draft, chance: Random) -> None:
    relabel(draft, "dragon-plus")


@forgery("embedder relabelled", "its name alone")
def _name(draft: Draft, chance: Random) -> None:
    draft.run["embedder"]["name"] = "bge-m3"


@forgery("embedder relabelled", "none at all")
def _none(draft: Draft, chance: Random) -> None:
    draft.run["embedder"] = None


@forgery("the choice", "choice.max_chars is 40, with its tenant, its folder and its deviation")
def _cut(draft: Draft, chance: Random) -> None:
    cut(draft, 40)


def cut(draft: Draft, characters: int) -> None:
    """Lessons that are said to have been cut, and a run that deviates by it."""
    put(draft.run, "choice.max_chars", characters)
    _renew_tenant(draft.run)
    draft.worse = True


def relabel(draft: Draft, name: str) -> None:
    run = draft.run
    asked = edition(run["protocol"]["version"])
    pins = asked.embedders[name]
    run["choice"]["embedder"] = name
    for fact in ("model", "revision", "dimensions", "max_tokens", "batch_size"):
        run["embedder"][fact] = getattr(pins, fact)
    run["embedder"] |= {"name": name, "note": ""}
    run["disclosures"] = list(asked.disclosures(name, run["choice"]["suite"]))
    _renew_tenant(run)


def _renew_tenant(run: Json) -> None:
    record = msgspec.convert(run, Run)
    label = lessons_label(record.corpus.sha256, record.choice.level, record.choice.written, record.embedder)
    run["guc_state"]["pgmnemo.tenant_id"] = str(uuid5(NAMESPACE, label))
