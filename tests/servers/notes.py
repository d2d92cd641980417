"""A dozen notes of several languages, each with a question by words, as every server is asked them."""
# ruff: noqa: RUF001

from __future__ import annotations

from typing import NamedTuple

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

WIDTH = 384


class Note(NamedTuple):
    """A text, and a question that shares its words in another form, case or length."""

    key: str
    text: str
    question: str


NOTES = (
    Note("stems", "Ada added the missing entries to the ledger.", "Who was adding an entry?"),
    Note("irregular", "The children went to the harbour in winter.", "Where did the child go?"),
    Note("ticket", "PROJ-137 is late because the build of the branch broke.", "ticket 137"),
    Note("amount", "The invoice of March was 1,250.00 EUR.", "1250"),
    Note("capitals", "CAFÉ MÜLLER is closed on Mondays.", "café müller"),
    Note(
        "german", "Die Häuser in der Straße wurden im Frühling gestrichen.", "gestrichenes Haus der Straßen"
    ),
    Note("quotes", "He said “Lisbon–Porto”, 5€ each… 🔥", "porto lisbon 5"),
    Note("french", "Les élèves préparent le dîner à la cuisine.", "la préparation du dîner par un élève"),
    Note("apostrophe", "O’Brien signed the contract on Friday.", "O'Brien"),
    Note("turkish", "İSTANBUL'da IŞIK gösterisi çok kalabalıktı.", "istanbul ışık"),
    Note("insect", "THE INSECT BIT IVAN IN ITALY.", "insect italy"),
    Note("russian", "МОСКВА встретила путешественников дождём.", "Москва путешественник"),
    Note("arabic", "وصلت الرسالة إلى المكتب يوم الأحد.", "الرسالة"),
    Note("chinese", "我每天早上在公园里喝茶。", "喝茶"),
    Note("japanese", "東京タワーの近くに住んでいます。", "東京タワー"),
    Note("thai", "การประชุมจะจัดขึ้นในวันอังคาร", "วันอังคาร"),
)
CODECS = {"UTF8": "utf-8", "LATIN1": "latin-1", "SQL_ASCII": "utf-8", "WIN1252": "cp1252", "EUC_JP": "euc_jp"}
"""Python's names of PostgreSQL's encodings; a database in SQL_ASCII keeps the bytes that it is given."""


def writable(encoding: str) -> tuple[Note, ...]:
    """Return the notes of which the encoding has every character."""
    codec = CODECS[encoding]
    return tuple(note for note in NOTES if note.text.encode(codec, "ignore").decode(codec) == note.text)


def vectors(texts: list[str]) -> list[list[float]]:
    """Return a vector of hashed words for each text."""
    made = EMBEDDERS["hash"](EmbedderOptions(dimensions=WIDTH))
    return [[float(number) for number in row] for row in made.rows(texts)]
