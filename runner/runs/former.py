"""Documents of the schemas before pgmnemo/run/3, in the form of today: the same facts under today's names."""

from __future__ import annotations

from typing import Any

from runner.records import Json
from runner.runs.choice import NO_EMBEDDER, OURS

LEGS = ("bm25", "keyword", "vector")
CORPUS = ("title", "file", "sha256", "segments", "questions", "clustered", "shape", "citable")


def brought_up(document: Json) -> Json:
    """A document of pgmnemo/run/1 or /2 in the form of /5; a later one as it is."""
    if "choice" in document:
        return document
    kept = {name: value for name, value in document.items() if name not in ("pgmnemo_version", "options")}
    corpus, options = document["corpus"], document["options"]
    embedder = document["embedder"]
    choice = {
        "suite": corpus["suite"],
        "level": corpus["granularity"],
        "embedder": embedder["name"] if embedder else NO_EMBEDDER,
        "version": document["pgmnemo_version"],
        **options,
    }
    first, *others = document["arms"]
    arms = [
        {
            **first,
            "role": "system",
            "title": OURS,
            "version": document["pgmnemo_version"],
            "components": list(document["components"]),
        },
        *({**arm, "role": _role(arm)} for arm in others),
    ]
    return {**kept, "corpus": {name: corpus[name] for name in CORPUS}, "choice": choice, "arms": arms}


def _role(arm: dict[str, Any]) -> str:
    return "leg" if arm["name"] in LEGS else "control"
