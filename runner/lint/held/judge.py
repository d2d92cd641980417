"""What each figure owes its reader, and whether it pays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runner.lint.around import evidence
from runner.lint.around.context import Context, context
from runner.lint.artefacts import PATH, Shelf, Source
from runner.lint.document.figures import Figure
from runner.lint.held.readings import read
from runner.lint.held.values import mismatch, only_depth, other_embedder
from runner.lint.said.facets import ROW_FACETS, arms_of, mentions
from runner.lint.said.variants import spoken_of
from runner.lint.written.names import Name, names_in
from runner.report.citation import refusal

Complaint = tuple[str, str]  # rule, message


def judge(figure: Figure, shelf: Shelf, file: Path) -> Iterator[Complaint]:
    """Everything that is wrong with one figure."""
    around = context(figure)
    named = sources(figure, shelf, file)
    if named:
        yield from _own(figure, around, named, shelf)
    elif figure.name.family == "questions":
        return
    elif _of_others(around):
        yield from _others(figure, around)
    else:
        yield from _protocol(around, None)
        yield "no-artefacts", f"{figure.name.words} without its results folder (or source, if it is not ours)"
        yield from _definition(figure, around)


def sources(figure: Figure, shelf: Shelf, file: Path) -> list[Source]:
    """The results folders that the figure is from: the nearest named; none for a figure of others."""
    around = context(figure)
    if found := shelf.sources(around.local, file):
        return found
    found = shelf.sources(around.block, file)
    if found and around.tabular and _rows_name_theirs(figure):
        return [Source("", None, "a row without its results folder, in a table whose rows name theirs")]
    if evidence.elsewhere(around.local):
        return []
    wide = next((f for f in (shelf.sources(text, file) for text in (around.near, *around.wide)) if f), [])
    others_here = evidence.of_others(around.local) and not (wide and evidence.speaks_of_itself(around.local))
    if others_here and (evidence.sourced(around.local) or not (found or wide)):
        return []
    if found:
        return found
    if wide and evidence.speaks_of_itself(around.local):
        return wide
    return wide


def _rows_name_theirs(figure: Figure) -> bool:
    return PATH.search("\n".join(figure.block.lines[2:])) is not None


def _an_arm(figure: Figure, sources: list[Source], shelf: Shelf, *, ours: bool = False) -> bool:
    """Whether a sentence that speaks of others speaks of an arm, a type or a view that the runs have;
    with `ours` our own system counts as one."""
    runs = [source.results for source in sources if source.results is not None]
    said = mentions(figure.said.text, runs, frozenset())
    arms = frozenset().union(*map(arms_of, runs))
    named = any(one.facet in ROW_FACETS and (ours or one.value != "pgmnemo") for one in said)
    return bool(runs) and (named or spoken_of(figure.said.text, arms))


def _of_others(around: Context) -> bool:
    if evidence.elsewhere(around.local):
        return True
    return any(
        evidence.of_others(text) for text in (around.local, around.block, around.headings, around.near)
    )


def _own(figure: Figure, around: Context, sources: list[Source], shelf: Shelf) -> Iterator[Complaint]:
    runs = [source.results for source in sources if source.results is not None]
    meant = read(figure, around, runs, shelf).runs or tuple(runs)
    if figure.name.family != "questions" and not only_depth(figure.name, meant):
        yield from _definition(figure, around)
    for source in sources:
        results = source.results
        if results is None:
            if source.blocked or not runs:
                yield "not-citable" if source.blocked else "no-artefacts", source.trouble
        elif results in meant and (reason := refusal(results.figures, results.run)):
            yield "not-citable", f"{source.path}: {reason}"
    if not runs:
        yield from _protocol(around, None)
        return
    yield from _protocol(around, {str(run.run.protocol.version) for run in meant})
    if wrong := mismatch(figure, around, runs, shelf) or other_embedder(figure, meant):
        yield "differs", wrong
    for run in (run for run in meant if not refusal(run.figures, run.run)):
        yield from _label(around, run.told.verdict, list(run.told.deviations))


def _protocol(around: Context, versions: set[str] | None) -> Iterator[Complaint]:
    texts = (around.local, around.block, around.near, *around.wide)
    said = next((version for version in map(evidence.protocol_version, texts) if version), None)
    if versions and any(len(named := evidence.protocols(text)) > 1 and versions <= named for text in texts):
        return  # several runs, each with its own
    if said is None:
        yield "no-protocol", "no version of the protocol stands with it"
    elif versions is not None and said not in versions:
        yield (
            "no-protocol",
            f"protocol {said} is named, its run was measured under {', '.join(sorted(versions))}",
        )


def _label(around: Context, verdict: str, deviations: list[str]) -> Iterator[Complaint]:
    if verdict != "deviation":
        return
    texts = (around.local, around.block, *around.wide)
    text = next((t for t in texts if evidence.labelled(t)), None)
    if text is None or evidence.CALLED_VERIFIED.search(around.local):
        yield "no-label", "its run is a deviation, which is not said"
        return
    missing = [d for d in deviations if not any(evidence.names_departure(text, d) for text in around.wide)]
    if missing:
        yield "no-label", f"its run departs in more than is said: {'; '.join(missing)}"


def _others(figure: Figure, around: Context) -> Iterator[Complaint]:
    if not evidence.sourced(around.near) and not evidence.sourced(around.headings):
        yield "no-source", f"{figure.name.words} of others, a baseline or a sweep without its source"
    if not evidence.WITHDRAWN.search(around.block):
        yield from _definition(figure, around)


def _definition(figure: Figure, around: Context) -> Iterator[Complaint]:
    name = figure.name
    if name.k is None and not _depth_said(name, around):
        yield "no-definition", f"{name.words}: name its depth, such as {_example(name)}"
    elif name.family != "recall" or name.defined or evidence.defines(around.near):
        return
    elif _of_others(around) or not any(map(evidence.protocol_version, around.wide)):
        yield "no-definition", f"{name.words}: say whether it is recall_any, recall_frac or recall_all"


def _depth_said(name: Name, around: Context) -> bool:
    """Whether the metric stands with its depth beside it, or in its section when it is no recall."""
    texts = (around.near,) if name.family == "recall" else around.wide
    return any(
        other.family == name.family and other.k is not None for text in texts for other in names_in(text)
    )


def _example(name: Name) -> str:
    return {"MRR": "MRR@50", "nDCG": "nDCG@10"}.get(name.family, f"recall_{name.kind or 'any'}@10")


def side_by_side(figures: list[Figure]) -> Iterator[tuple[Figure, str]]:
    """Figures of one sentence or row that are compared although they count different things."""
    groups: dict[tuple[int, str], list[Figure]] = {}
    for figure in figures:
        groups.setdefault(
            (id(figure.block), figure.said.text if not figure.header else figure.words), []
        ).append(figure)
    for group in groups.values():
        if complaint := _mixed(group):
            yield complaint


def _mixed(group: list[Figure]) -> tuple[Figure, str] | None:
    around = context(group[0])
    if evidence.told_apart(around.near):
        return None
    for family in ("recall", "MRR", "nDCG"):
        members = [figure for figure in group if figure.name.family == family]
        told = {_told(figure) for figure in members}
        ambiguous = "recall" in told and len(told) > 1
        named = all(member.name.defined for member in members)
        beside = evidence.AGAINST if named else evidence.BESIDE
        crossed = len(told) > 1 and beside.search(group[0].words) and not _by_column(members)
        if ambiguous or crossed:
            last = next(figure for figure in members if _told(figure) != _told(members[0]))
            return last, f"{' and '.join(sorted(told))} stand side by side; say that they are not the same"
    return None


def _told(figure: Figure) -> str:
    """What a figure counts, without its cutoff for recalls: several cutoffs of one recall are a list."""
    name = figure.name
    if name.family != "recall":
        return name.words
    return f"recall_{name.kind}" if name.kind else "recall"


def _by_column(members: list[Figure]) -> bool:
    return bool(members[0].header) and len({m.name.words for m in members}) == len(members)
