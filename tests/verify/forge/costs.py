"""Forgeries of components in force, scopes, times, names and costs."""

from __future__ import annotations

from random import Random

from tests.verify.forge.draft import Draft, Inapplicable
from tests.verify.forge.record import put
from tests.verify.forge.table import claim


@claim("inactive components", "active ones as inactive")
def _inactive(draft: Draft, chance: Random) -> None:
    name = chance.choice([key for key, value in draft.run["components"].items() if value == "active"])
    draft.run["components"][name] = "inactive: not needed"


@claim("inactive components", "inactive ones as active")
def _active(draft: Draft, chance: Random) -> None:
    idle = [key for key, value in draft.run["components"].items() if value != "active"]
    if not idle:
        raise Inapplicable
    draft.run["components"][chance.choice(idle)] = "active"


@claim("inactive components", "one left out")
def _component(draft: Draft, chance: Random) -> None:
    draft.run["components"].popitem()


@claim("inactive components", "one that moves as inactive, in the words of a run")
def _no_times(draft: Draft, chance: Random) -> None:
    name = chance.choice([key for key in ("recency", "temporal") if draft.run["components"][key] == "active"])
    draft.run["components"][name] = "inactive: no times"


@claim("inactive components", "the graph, whatever the edges")
def _graph(draft: Draft, chance: Random) -> None:
    had = draft.run["components"]["graph"] == "active"
    draft.run["components"]["graph"] = "inactive: the corpus has no edges" if had else "active"


@claim("inactive components", "the vectors, as in mode keyword")
def _as_keyword(draft: Draft, chance: Random) -> None:
    draft.run["components"]["cosine"] = "inactive: keyword mode"


@claim("timings cut", "the slowest exchanged for one more of a quick question")
def _twice_timed(draft: Draft, chance: Random) -> None:
    slow = max(draft.timings, key=lambda one: float(one["seconds"]))
    quick = min(draft.timings, key=lambda one: float(one["seconds"]))
    slow |= {"question": quick["question"], "seconds": quick["seconds"]}


@claim("timings cut", "to the fastest half")
def _fastest(draft: Draft, chance: Random) -> None:
    for scope in ("conversation", "pool"):
        own = sorted((one for one in draft.timings if one["scope"] == scope), key=lambda one: one["seconds"])
        slow = {one["question"] for one in own[len(own) // 2 :]}
        draft.timings = [one for one in draft.timings if one["scope"] != scope or one["question"] not in slow]


@claim("timings cut", "by the one that is slowest")
def _slowest(draft: Draft, chance: Random) -> None:
    draft.timings.remove(max(draft.timings, key=lambda one: float(one["seconds"])))


@claim("timings cut", "to one scope")
def _scope(draft: Draft, chance: Random) -> None:
    draft.timings = [one for one in draft.timings if one["scope"] != "pool"]


@claim("timings cut", "to none")
def _no_timings(draft: Draft, chance: Random) -> None:
    draft.timings = []


@claim("latency", "every time halved")
def _halved(draft: Draft, chance: Random) -> None:
    for one in draft.timings:
        one["seconds"] = round(one["seconds"] / 2, 6)


@claim("latency", "the percentile alone")
def _percentile(draft: Draft, chance: Random) -> None:
    draft.last.append(lambda run: run["latency"][0].update(p95_ms=0.5))


@claim("latency", "the sum beyond its stage")
def _slow(draft: Draft, chance: Random) -> None:
    for one in draft.timings:
        one["seconds"] += 1.0


@claim("scopes", "the pool left out")
def _pool(draft: Draft, chance: Random) -> None:
    draft.run["scopes"] = [one for one in draft.run["scopes"] if one["name"] != "pool"]
    draft.raw = [line for line in draft.raw if line["scope"] != "pool"]
    draft.timings = [line for line in draft.timings if line["scope"] != "pool"]


@claim("scopes", "the pool left out, as chosen")
def _pool_chosen(draft: Draft, chance: Random) -> None:
    _pool(draft, chance)
    put(draft.run, "choice.scopes", ["conversation"])


@claim("scopes", "the conversation called pool")
def _exchanged(draft: Draft, chance: Random) -> None:
    other = {"conversation": "pool", "pool": "conversation"}
    for line in (*draft.raw, *draft.timings):
        line["scope"] = other[line["scope"]]
    draft.raw.sort(key=lambda line: ([one["name"] for one in draft.run["arms"]].index(line["arm"]),
                                     line["scope"]))  # fmt: skip


@claim("scopes", "the pool as no pool")
def _pooled(draft: Draft, chance: Random) -> None:
    draft.run["scopes"][1]["pooled"] = False


@claim("folder name", "without the embedder")
def _folder(draft: Draft, chance: Random) -> None:
    draft.named = f"v{draft.run['choice']['version']}_20261122"


@claim("folder name", "of another embedder")
def _other_folder(draft: Draft, chance: Random) -> None:
    draft.named = f"v{draft.run['choice']['version']}_20261122_bge-m3"


@claim("folder name", "of another version")
def _other_version(draft: Draft, chance: Random) -> None:
    draft.named = draft.run["name"].replace("v0.", "v1.")


@claim("days", "the run before its code")
def _before(draft: Draft, chance: Random) -> None:
    for end in ("started", "finished"):
        draft.run[end] = f"2025-01-0{chance.randrange(1, 9)}{draft.run[end][10:]}"


@claim("days", "ended before it began")
def _backwards(draft: Draft, chance: Random) -> None:
    run = draft.run
    run["started"], run["finished"] = run["finished"], run["started"]


@claim("cost", "the whole quicker than its stages")
def _quick(draft: Draft, chance: Random) -> None:
    draft.run["resources"]["wall_seconds"] = 0.1


@claim("cost", "every stage quicker")
def _quicker(draft: Draft, chance: Random) -> None:
    for name in ("ingest_seconds", "embed_seconds"):
        draft.run["resources"][name] = 0.0
