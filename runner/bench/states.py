"""Which parts of pgmnemo's score have something to act on in a corpus, and why another has not."""

from __future__ import annotations

from collections.abc import Iterable

from runner.records import Corpus

ACTIVE, INACTIVE = "active", "inactive: "
NO_VECTOR, NO_WORDS = "keyword mode", "vector mode"
NO_PASSAGES, NO_TIMES = "the corpus has no passages", "no times"
NO_COMPANIONS = "no two lessons of a project have one time"
NO_POSITIONS, NO_FOLLOWERS = "no positions", "no two lessons follow one another in a session"
ONE_IMPORTANCE, NO_EDGES = "every importance is the same", "the corpus has no edges"
REASONS = frozenset({
    NO_VECTOR, NO_WORDS, NO_PASSAGES, NO_TIMES, NO_COMPANIONS, NO_POSITIONS, NO_FOLLOWERS, ONE_IMPORTANCE,
    NO_EDGES,
})  # fmt: skip


def component_states(names: Iterable[str], mode: str, corpus: Corpus) -> dict[str, str]:
    """By component of the engine: `active`, or `inactive: ` and why it acts on nothing."""
    no_vector = NO_VECTOR if mode == "keyword" else ""
    no_words = NO_WORDS if mode == "vector" else ""
    no_passage = "" if any(s.passages for s in corpus.segments) else NO_PASSAGES
    no_times = NO_TIMES if len({s.occurred_at for s in corpus.heads}) < 2 else ""
    idle = {
        "cosine": no_vector,
        "bm25": no_words,
        "passage_terms": no_words or no_passage,
        "passage_cosine": no_vector or no_passage,
        "pair_cosine": no_vector or no_passage,
        "temporal": no_words or no_times,
        "context": "" if _companions(corpus) else NO_COMPANIONS,
        "neighbours": _no_neighbours(corpus),
        "recency": no_times,
        "importance": ONE_IMPORTANCE if len({s.importance for s in corpus.heads}) < 2 else "",
        "graph": "" if corpus.edges else NO_EDGES,
    }
    return {name: f"{INACTIVE}{idle[name]}" if idle.get(name) else ACTIVE for name in names}


def _companions(corpus: Corpus) -> bool:
    """Whether any two segments of one project occurred at one time."""
    times = [(s.project, s.occurred_at) for s in corpus.heads if s.occurred_at is not None]
    return len(set(times)) < len(times)


def _no_neighbours(corpus: Corpus) -> str:
    """Why no segment has one at the next position of its project; empty where any has."""
    places = {(s.project, s.position) for s in corpus.heads if s.position is not None}
    if not places:
        return NO_POSITIONS
    follow = any((project, position + 1) in places for project, position in places)
    return "" if follow else NO_FOLLOWERS
