"""Forgeries of run.json: what was run, with what, and what is said of it."""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import uuid5

import msgspec

from runner.bench.material import NAMESPACE, label_of
from runner.protocol.editions import edition
from runner.records import Json
from runner.runs.run import Run
from tests.verify.forge.draft import Draft, Inapplicable
from tests.verify.forge.table import claim


def put(document: Json, path: str, value: Any) -> None:
    """Set what stands at a path with dots; Inapplicable where it is said already, or not known."""
    *steps, last = path.split(".")
    for step in steps:
        document = document[step] if isinstance(document, dict) else document[int(step)]
    if last not in document or document[last] == value:
        raise Inapplicable
    document[last] = value


FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("views", "headline", ["recall_any@10"]),
    ("views", "headline", ["recall_any@50", "recall_any@20", "MRR@50"]),
    ("scopes", "corpus.clustered", True),
    ("corpus", "corpus.title", "LoCoMo"),
    ("corpus", "corpus.citable", True),
    ("corpus", "corpus.sha256", "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"),
    ("corpus", "corpus.segments", 5882),
    ("corpus", "corpus.questions", 1982),
    ("corpus", "corpus.shape.projects", 10),
    ("corpus", "corpus.shape.edges", 272),
    ("embedder's pins", "embedder.model", "BAAI/bge-m3"),
    ("embedder's pins", "embedder.revision", "5617a9f61b028005a4858fdac845db406aefb181"),
    ("embedder's pins", "embedder.dimensions", 1024),
    ("embedder's pins", "embedder.query_prefix", "query: "),
    ("embedder's pins", "embedder.max_tokens", 512),
    ("embedder's pins", "embedder.note", "mean pooling"),
    ("seed", "seed", 7),
    ("seed", "python_hash_seed", "0"),
    ("commit of the code", "code.commit", "0" * 40),
    ("commit of the code", "code.commit", "deadbeef" * 5),
    ("commit of the code", "code.dirty", True),
    ("the choice", "choice.mode", "keyword"),
    ("the choice", "choice.level", "turn"),
    ("the choice", "choice.max_chars", 100),
    ("the choice", "choice.text", "head"),
    ("the choice", "choice.k", [1, 5]),
    ("the choice", "choice.passages", "none"),
    ("the choice", "choice.split", "test"),
    ("the choice", "choice.allow_unregistered_corpus", True),
    ("the database", "database.pgmnemo", "9.9.9"),
    ("the database", "database.fingerprint", "0" * 64),
    ("stated facts", "database.postgresql", "19.0"),
    ("stated facts", "database.pgvector", "0.9.9"),
    ("stated facts", "machine.cpu", "a small one"),
    ("stated facts", "machine.cores", 1),
    ("stated facts", "python", "3.14.0"),
    ("stated facts", "packages", {}),
    ("stated facts", "resources.peak_memory_mb", 1.0),
    ("stated facts", "arms.0.memory_bytes", 1),
    ("stated facts", "arms.0.disk_bytes", 1),
    ("stated facts", "passages.count", 1),
    ("what arms say", "arms.0.words", "the whole of pgmnemo"),
    ("what arms say", "arms.0.title", "the best memory"),
    ("what arms say", "arms.0.tuned_on", "all of it"),
    ("what arms say", "arms.0.remarks", ["never tuned"]),
    ("what arms say", "arms.1.words", "Lucene's BM25"),
    ("what arms say", "arms.1.role", "system"),
    ("what arms say", "arms.0.own_embedder", True),
)  # fmt: skip


def _field(path: str, value: Any) -> Any:
    def change(draft: Draft, chance: Random) -> None:
        put(draft.run, path, value)

    return change


for _kind, _path, _value in FIELDS:
    claim(_kind, f"{_path} is {str(_value)[:20]}")(_field(_path, _value))


@claim("views", "without a type")
def _view(draft: Draft, chance: Random) -> None:
    draft.run["views"][0]["without_types"] = [chance.choice(draft.raw)["type"]]


@claim("views", "without the keys that fail")
def _key(draft: Draft, chance: Random) -> None:
    draft.run["views"][0]["without_key"] = "q0"


@claim("views", "one more")
def _more(draft: Draft, chance: Random) -> None:
    kind = chance.choice(draft.raw)["type"]
    draft.run["views"].append({"name": "clean", "without_types": [kind], "without_key": ""})


@claim("embedder relabelled", "as that of the edition, with its pins, tenant and folder")
def _relabelled(draft: Draft, chance: Random) -> None:
    relabel(draft, "bge-m3")


@claim("embedder relabelled", "as DRAGON+, with its pins, tenant and folder")
def _dragon(draft: Draft, chance: Random) -> None:
    relabel(draft, "dragon-plus")


@claim("embedder relabelled", "its name alone")
def _name(draft: Draft, chance: Random) -> None:
    draft.run["embedder"]["name"] = "bge-m3"


@claim("embedder relabelled", "none at all")
def _none(draft: Draft, chance: Random) -> None:
    draft.run["embedder"] = None


@claim("the choice", "choice.max_chars is 40, with its tenant, its folder and its deviation")
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
    label = label_of(record.corpus.sha256, record.choice.level, record.choice.written, record.embedder)
    run["guc_state"]["pgmnemo.tenant_id"] = str(uuid5(NAMESPACE, label))
