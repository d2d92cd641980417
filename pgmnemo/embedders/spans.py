"""The positions of the tokens in a text, and whether the model knows each token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pgmnemo.embedders import TokenSpan

UNKNOWN = ("[UNK]", "<unk>")
KNOWN = 0.6  # least share of known letters in a text that is embedded; MiniLM: at most .65 of a paragraph of
# xquad-zh and of all but 2 of 100 questions, at least .80 of everything in xquad-de
AT_ONCE = 64  # texts per batch of the tokenizer


def spans_of(tokenizer: Any, texts: Sequence[str]) -> list[list[TokenSpan]]:
    """Return the tokens of each text by a tokenizer of the library `tokenizers` that cuts nothing off."""
    unknown = {number for name in UNKNOWN if (number := tokenizer.token_to_id(name)) is not None}
    spells = _spells(tokenizer)
    found: list[list[TokenSpan]] = []
    for start in range(0, len(texts), AT_ONCE):
        some = list(texts[start : start + AT_ONCE])
        found += [list(_spans(one, unknown, spells)) for one in _encode_one(tokenizer, some)]
    return found


def _encode_one(tokenizer: Any, texts: list[str]) -> Any:
    return tokenizer.encode_batch(texts, add_special_tokens=False)


def _spells(tokenizer: Any) -> bool:
    """Return whether words outside the vocabulary are split into pieces that begin with ##, as
    WordPiece does.
    """
    return tokenizer.token_to_id("##a") is not None


def _spans(encoding: Any, unknown: set[int], spells: bool) -> Iterator[TokenSpan]:
    offsets, words = encoding.offsets, encoding.word_ids
    last = len(words) - 1
    for at, (number, (start, end)) in enumerate(zip(encoding.ids, offsets, strict=True)):
        known = number not in unknown
        if known and spells and end - start == 1:
            word = words[at]
            known = not ((at and words[at - 1] == word) or (at < last and words[at + 1] == word))
        yield TokenSpan(start, end, known)


def known_share(text: str, spans: Sequence[TokenSpan]) -> float:
    """Return the share of a text's letters that a model knows, 0 to 1; without letters, of its tokens.

    It is 1 for an empty text. A text of unknown symbols has the vector of every other such text. ASCII
    letters count as known: every supported vocabulary has them, and ticket numbers and file names are split
    into letters although the text is understood.
    """
    tokens = [
        (sum(map(str.isalpha, text[start:end])), knows or text[start:end].isascii())
        for start, end, knows in spans
        if end > start
    ]
    if not any(letters for letters, _ in tokens):
        tokens = [(1, known) for _, known in tokens]
    total = sum(letters for letters, _ in tokens)
    return sum(letters for letters, known in tokens if known) / total if total else 1.0
