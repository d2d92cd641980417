"""The lengths of a corpus's texts in tokens, for the metrics within a budget of tokens (PROTOCOL.md §4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pgmnemo.passages.estimate import about_tokens
from runner.records import Corpus, Retrieval


class TextLengths:
    """The lengths of the texts of a corpus, by an estimate without a tokenizer.

    Each text is read and counted when its length is first asked for.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._segments = corpus.segments
        self._places = {(one.project, one.id): place for place, one in enumerate(corpus.heads)}
        self._known: dict[int, int] = {}

    def of(self, project: str, ids: Iterable[str]) -> tuple[int, ...]:
        """Return the tokens of each segment's text; raise KeyError for an id that the project lacks."""
        return tuple(self._length(self._places[project, one]) for one in ids)

    def counted(self, row: Retrieval) -> Retrieval:
        """Return a retrieval within one project with the lengths of its gold and of its ranking."""
        ranked = (hit.id for hit in row.ranking)
        return replace(row, gold_tokens=self.of(row.project, row.gold), tokens=self.of(row.project, ranked))

    def _length(self, place: int) -> int:
        if place not in self._known:
            self._known[place] = about_tokens(self._segments[place].text)
        return self._known[place]
