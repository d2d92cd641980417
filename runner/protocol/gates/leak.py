"""The gate against leaks: no id and no label in any text that is indexed or asked. (§2.4)

LongMemEval's gold ids begin with `answer_`: one id in a text gives the answer away.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import islice

from runner.protocol.gates.gate import Gate, GateFinding, RunFacts
from runner.records import Corpus, Status

EXPECTED = "no id of the corpus and no label in any text that is indexed or asked"
SHOWN = 5
LABEL = re.compile(r"\bhas_answer\b|\banswer_(?:[0-9a-f]{6,}|sharegpt_|ultrachat_)\w*")

# Letters, digits, underscore and bytes above ASCII stay; any other byte becomes a blank. This split takes a
# third of the time of a regular expression: LongMemEval-S is 250 MB of text.
BLANKS = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == ord("_") else 32 for byte in range(256))

Keys = Mapping[bytes, tuple[str, ...]]


def leak(facts: RunFacts) -> GateFinding:
    """FAILED with the first texts that hold an id or a label."""
    found = list(islice(_leaks(facts.corpus), SHOWN + 1))
    if not found:
        return GateFinding(Status.PASSED, EXPECTED, "none")
    places = "; ".join(place for _, place in found[:SHOWN]) + (" and more" if len(found) > SHOWN else "")
    names = ", ".join(dict.fromkeys(repr(name) for name, _ in found[:SHOWN]))
    resolve = (
        "build the text from date, speaker, words and captions alone (§2.4), leaving ids and labels out; in "
        "a file of your own, give ids that no text holds"
    )
    return GateFinding(Status.FAILED, EXPECTED, f"{names} in the text", places, resolve)


def _leaks(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield (leaked id or label, place) for each text that has one."""
    keys = _keys(_ids(corpus))
    labels = [re.compile(label) for label in corpus.labels]
    for text, place in _texts(corpus):
        leaked = _id(text, keys) or _label(text, labels)
        if leaked:
            yield leaked, place


def _texts(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield each distinct text once, with the place where it occurs first.

    Only digests of the texts are kept in memory.
    """
    seen: set[bytes] = set()
    for text, place in _every_text(corpus):
        if (digest := blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()) not in seen:
            seen.add(digest)
            yield text, place


def _every_text(corpus: Corpus) -> Iterator[tuple[str, str]]:
    for segment in corpus.segments:
        for text in (segment.text, segment.topic, segment.role):
            if text:
                yield text, f"segment {segment.id} of {segment.project}"
    for question in corpus.questions:
        yield question.text, f"question {question.key}"


def _ids(corpus: Corpus) -> set[str]:
    """Return every id, project, question key and evidence id that is unlikely to occur in a text by
    chance.
    """
    ids = {one for segment in corpus.heads for one in (segment.id, segment.project)}
    ids |= {question.key for question in corpus.questions}
    ids |= {one.cited for question in corpus.questions for one in question.evidence}
    return {one for one in ids if _telling(one)}


def _telling(one: str) -> bool:
    """Return whether an id is unlikely to occur in ordinary text by chance.

    True for `conv-26/D3` and `eac54add`, False for `D` and `2023`.
    """
    if not any(character.isdigit() or character == "_" for character in one):
        return False
    return len(one) >= 6 and (not one.isdigit() or len(one) >= 8)


def _keys(ids: Iterable[str]) -> Keys:
    """Return the ids grouped by a word of theirs: a text without the word cannot contain the id.

    It is the word that the fewest ids have, so that a person's name in a text does not lead to all ids of
    the person.
    """
    words = {one: _words(one) for one in sorted(ids)}
    times = Counter(word for group in words.values() for word in set(group))
    keys: defaultdict[bytes, list[str]] = defaultdict(list)
    for one, group in words.items():
        keys[min(group, key=lambda word: (times[word], -len(word)))].append(one)
    return {word: tuple(group) for word, group in keys.items()}


def _words(text: str) -> list[bytes]:
    return text.encode().translate(BLANKS).split()


def _id(text: str, keys: Keys) -> str | None:
    words = _words(text)
    if keys.keys().isdisjoint(words):
        return None
    candidates = (one for word in keys.keys() & set(words) for one in keys[word] if one in text)
    return next((one for one in candidates if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)), None)


def _label(text: str, labels: Iterable[re.Pattern[str]]) -> str | None:
    if "answer" in text and (match := LABEL.search(text)):
        return match[0]
    return next((match[0] for label in labels if (match := label.search(text))), None)


GATES = (Gate("leak", leak, of_corpus=True, needs_text=True),)
