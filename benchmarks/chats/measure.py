"""Store a chat in a memory, ask its questions, and judge the answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from psycopg.conninfo import make_conninfo

from benchmarks.chats.generator import ASKINGS, NOW, Chat, Question
from pgmnemo import Item, Memory, Scope
from pgmnemo.postgres.embedded import EmbeddedServer

K, SHOWN, TOKENS = 10, 5, 300
NEARLY, PART = 0.9, 0.5  # least similarity of nearly equal texts; least part of one in the other
BOAT = (
    "Good morning!", "My boat is green.", "My sister has a red car.", "We sail at weekends unless it rains.",
    "The harbour was full of jellyfish today.", "Thanks, talk to you tomorrow.",
)  # fmt: skip
BOAT_QUESTION, BOAT_ANSWER = "What colour is my boat?", BOAT[1]


@dataclass(frozen=True, slots=True)
class Result:
    """What a memory answered to a question: the texts of its hits, why, and the texts of the context."""

    language: str
    asked: int
    question: Question
    hits: tuple[str, ...]
    reasons: tuple[str, ...]
    context: tuple[str, ...]

    @property
    def rank(self) -> int | None:
        """The rank of the answer, from 1; None if it is no hit."""
        return self._rank(self.question.answer)

    @property
    def newer_ahead(self) -> bool:
        """Return whether the answer is a hit above the message that it replaced."""
        older = self._rank(self.question.older or "")
        return self.rank is not None and (older is None or self.rank < older)

    @property
    def in_context(self) -> bool:
        return self.question.answer in self.context

    @property
    def repeats(self) -> int:
        """How many of the first five nearly equal a hit above them."""
        shown = self.hits[:SHOWN]
        return sum(
            any(nearly_equal(hit, above) for above in shown[:place]) for place, hit in enumerate(shown)
        )

    @property
    def questions(self) -> int:
        """How many of the first five nearly equal the question."""
        return sum(nearly_equal(hit, self.question.text) for hit in self.hits[:SHOWN])

    def _rank(self, text: str) -> int | None:
        return self.hits.index(text) + 1 if text in self.hits else None


def nearly_equal(one: str, other: str) -> bool:
    """Return whether two texts have nearly the same letters, or the shorter is most of the longer."""
    short, long = sorted((_letters(one), _letters(other)), key=len)
    if short in long and len(short) >= PART * len(long):
        return True
    return SequenceMatcher(None, short, long, autojunk=False).ratio() >= NEARLY


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without case and form."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


@contextmanager
def open_memory(version: str, embedder: str | None, settings: Mapping[str, str]) -> Iterator[Memory]:
    """Yield a new memory in a temporary folder, with the extension in `version`."""
    with TemporaryDirectory(prefix="pgmnemo-chat-") as folder:
        server = EmbeddedServer.open(Path(folder), wanted=version)
        try:
            with Memory.open(
                make_conninfo(**server.conninfo), embedder=embedder, settings=settings
            ) as memory:
                yield memory
        finally:
            server.close()


def load(memory: Memory, chat: Chat, name: str) -> Scope:
    """Store a chat under a tenant of that name, each message with the position that `add` would give it.

    Fixed keys let every run break ties alike.
    """
    memory.grant(name)
    scope = memory.tenant(name).project("chat")
    items = [
        Item(one.text, key=f"turn/{place:04}", role=one.role, at=one.at, position=place)
        for place, one in enumerate(chat.messages, 1)
    ]
    scope.add_many(items, batch=len(items))
    return scope


def ask(scope: Scope, chat: Chat, asked: int) -> Iterator[Result]:
    """Yield the result of each question, which is asked at NOW and not stored."""
    for question in chat.questions:
        hits = scope.recall(question.text, k=K, as_of=NOW)
        context = scope.context(question.text, max_tokens=TOKENS, as_of=NOW)
        yield Result(
            chat.language,
            asked,
            question,
            tuple(hit.text for hit in hits),
            tuple(hit.why() for hit in hits),
            tuple(hit.text for hit in context.hits),
        )


def ask_about_boat(memory: Memory, times: int = ASKINGS) -> tuple[int | None, bool]:
    """Return the rank of the answer and whether it is in context, after a question was asked `times` times.

    The agent recalls, and then stores the question, as a chat does.
    """
    memory.grant("boat")
    scope = memory.tenant("boat").project("chat")
    for text in BOAT:
        scope.add(text, role="user")
    for _ in range(times):
        scope.recall(BOAT_QUESTION)
        scope.add(BOAT_QUESTION, role="user")
    texts = [hit.text for hit in scope.recall(BOAT_QUESTION, k=K)]
    rank = texts.index(BOAT_ANSWER) + 1 if BOAT_ANSWER in texts else None
    found = scope.context(BOAT_QUESTION, max_tokens=TOKENS)
    return rank, BOAT_ANSWER in [hit.text for hit in found.hits]
