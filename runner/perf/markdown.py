"""The Markdown of a run: what was measured, on what, and every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.markdown import table
from runner.perf.table import tables
from runner.records import Json

NAME = "performance.md"


def markdown(document: Json, plots: Sequence[str] = ()) -> str:
    """One text; `plots` are file names beside it."""
    pictures = (f"![{name.rpartition('.')[0].replace('_', ' ')}]({name})" for name in plots)
    parts = (*_head(document), *_tables(document), *pictures, "## Systems", "\n".join(_systems(document)))
    return "\n\n".join(parts) + "\n"


def _head(document: Json) -> Iterator[str]:
    request, corpus, machine = document["request"], document["corpus"], document["environment"]["machine"]
    held = corpus["tenants"]
    code = document["environment"]["code"]
    commit = f"commit {(code['commit'] or 'unknown')[:12]}{' with changes' if code['dirty'] else ''}"
    yield f"# Performance: {request['memories']:,} memories, {request['dimensions']} dimensions"
    yield (
        f"pgmnemo {request['version']}; {machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']:g} "
        f"GB, {machine['platform']}; {commit}; began {document['began']}, took {document['seconds']:,.0f} s."
    )
    yield (
        f"One tenant holds {held['whole']:,} lessons, one {held['share']:,} (1/{request['tenants']} of as "
        f"many), one {held['fixed']:,} at every size; their rows arrive interleaved. k = {request['k']}; "
        "warm; times are what a client waits. Systems that filter by a column are asked for everything "
        "without a filter."
    )
    model, words = corpus["embedder"].split(" ")[0], corpus["rare_words_a_passage"]
    yield (
        f"Corpus `{corpus['digest'][:16]}` from the suite {corpus['suite']} (seed {request['seed']}): each "
        f"text is {corpus['passages_a_lesson']} of {corpus['passages']:,} passages with {words} rare words "
        f"in each; vectors from {model} with Gaussian noise of length {corpus['noise']:g}; "
        f"{corpus['questions']:,} real questions."
    )


def _tables(document: Json) -> Iterator[str]:
    for one in tables(document):
        yield f"## {one.title}"
        yield table(one.heads, one.rows)


def _systems(document: Json) -> Iterator[str]:
    for system in document["systems"]:
        facts = ", ".join(f"{name} {value}" for name, value in system["facts"].items())
        yield f"- **{system['title']}**: {system['words']} ({facts})"
    for title, sentence in document["missing"].items():
        yield f"- **{title}**: {sentence}"
