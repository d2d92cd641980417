"""Secrets in texts: find what is certainly a key, a token or a password, and replace it.

The rules here are those of common forms, by the formats that providers publish. The package `redact-secret`
(the extra `secrets`) adds rules for 150 more kinds; its guesses by the name of a field are not used. Random
characters make no secret, because hashes and ids look the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

MARK = "[redacted: {}]"
_ENDS = r"(?![\w-])"
_LABEL = "(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"(?:(?!-----)[\s\S])"
_NAMES = (
    r"(?<![\w$-])(?:[A-Z0-9]+_)*(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY"
    r"|(?:ACCESS|SECRET|PRIVATE)_KEY)(?:_BASE|_\d+)?"
)


def _begins(length: int) -> str:
    """Return a pattern behind a prefix of this length: a word begins there, or, in JSON, a line.

    It follows the prefix, because a pattern that begins with plain letters is searched ten times as fast.
    """
    return rf"(?:(?<![\w-].{{{length}}})|(?<=\\n.{{{length}}}))"


FORMS: Mapping[str, Sequence[str]] = {
    "private key": (
        rf"-----BEGIN {_LABEL}(?={_BODY}{{0,400}}?[A-Za-z0-9+/=]{{40}})"
        rf"(?:{_BODY}{{0,20000}}-----END {_LABEL}|(?:(?:\\n|\s)+[A-Za-z0-9+/=]{{16,200}})+)",  # or cut off
    ),
    "aws access key": (rf"A[KS]IA{_begins(4)}[A-Z2-7]{{16}}(?<!EXAMPLE){_ENDS}",),
    "aws secret key": (
        r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?<!EXAMPLEKEY)(?![A-Za-z0-9/+])",
    ),
    "github token": (
        rf"gh[pousr]_[A-Za-z0-9]{{36,255}}{_ENDS}",
        rf"github_pat_[A-Za-z0-9]{{22}}_[A-Za-z0-9]{{59}}{_ENDS}",
    ),
    "gitlab token": (rf"gl(?:pat|dt|ft|rt|soat|ptt|cbt|imt|agent|oas)-[\w-]{{20,300}}{_ENDS}",),
    "slack token": (
        rf"xox[abceoprs]-\d{{1,20}}-[A-Za-z0-9-]{{20,300}}{_ENDS}",
        r"xapp-\d-[A-Z0-9]{5,20}-\d{5,20}-[a-f0-9]{40,128}",
    ),
    "slack webhook": (
        r"https://hooks\.slack\.com/(?:services|workflows)/(?P<secret>T\w{6,20}/[AB]\w{6,20}/[\w/]{20,100})",
    ),
    "stripe key": (
        rf"[rs]k_(?:live|test)_[A-Za-z0-9]{{20,250}}{_ENDS}",
        r"whsec_[A-Za-z0-9+/=]{32,100}",
    ),
    "openai key": (
        rf"sk-{_begins(3)}[\w-]{{20,200}}T3BlbkFJ[\w-]{{20,200}}{_ENDS}",
        rf"sk-{_begins(3)}(?:proj|svcacct|admin)-[\w-]{{60,300}}{_ENDS}",
    ),
    "anthropic key": (rf"sk-{_begins(3)}ant-[a-z]{{2,10}}\d\d-[\w-]{{80,200}}{_ENDS}",),
    "google api key": (rf"AIza{_begins(4)}[\w-]{{35}}{_ENDS}",),
    "hugging face token": (rf"hf_{_begins(3)}[A-Za-z]{{34}}{_ENDS}",),
    "npm token": (rf"npm_{_begins(4)}[A-Za-z0-9]{{36}}{_ENDS}",),
    "pypi token": (rf"pypi-{_begins(5)}AgE[\w-]{{60,1000}}{_ENDS}",),
    "jwt": (rf"eyJ{_begins(3)}[\w-]{{10,8000}}\.eyJ[\w-]{{10,8000}}\.[\w-]{{20,8000}}{_ENDS}",),
    "password in a url": (r"://[^\s/?#:@\"'<>]{0,256}:(?P<secret>[^\s/?#@\"'<>]{4,256})@[\w\[]",),
    "secret variable": (
        rf"{_NAMES}=(?P<quote>[\"']?)(?P<secret>[^\s\"'`,;=()\[\]{{}}]{{8,1000}}={{0,2}})"
        r"(?P=quote)(?![^\s,;)\]}`\"'])",
    ),
}
RULES: Mapping[str, re.Pattern[str]] = {kind: re.compile("|".join(forms)) for kind, forms in FORMS.items()}
"""Kinds, each with its pattern: the secret is the group `secret`, or else all of the match."""
GUESSED = ("password in a url", "secret variable")
PLACEHOLDER = re.compile(
    r"(?i)[$<%{\[(*./~\\]|(?:your|my|change|replace|insert|example)[-_]|x{4}|\d+$|"
    r"(?:password|passwd|secret|changeme|example|dummy|fake|test|postgres|true|false|none|null)$"
)
"""How a value begins that stands for a secret, where its place alone is what makes it one."""
HEURISTIC = "contextual_secret"  # a kind of redact-secret: guessed by the name of a field
PIECE, OVERLAP = 8_192, 2_048  # characters: redact-secret takes time by the square of a text's length


@dataclass(frozen=True, slots=True, order=True)
class Secret:
    """A secret in a text: its place, from `start` to `end`, and its kind."""

    start: int
    end: int
    kind: str


def redact(text: str) -> tuple[str, Counter[str]]:
    """Return a text with a mark in the place of each secret, and the number of secrets of each kind."""
    found = find_secrets(text)
    if not found:
        return text, Counter()
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], MARK.format(one.kind)]
        at = one.end
    return "".join([*parts, text[at:]]), Counter(one.kind for one in found)


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text in order; where two overlap, one of both together."""
    found: list[Secret] = []
    for one in sorted([*_by_rules(text), *_by_library(text)], key=lambda one: one.start):
        if found and one.start < found[-1].end:
            last = found[-1]
            found[-1] = Secret(last.start, max(last.end, one.end), last.kind)
        else:
            found.append(one)
    return found


def summary(counted: Mapping[str, int]) -> str:
    """Return the number of secrets of each kind in words."""
    return ", ".join(f"{number:,} {kind}" for kind, number in sorted(counted.items()))


def rules() -> str:
    """Return which rules are in use, in words."""
    if (library := _library()) is None:
        return f"{len(RULES)} kinds; 150 more are known after pip install 'pgmnemo-memory[secrets]'"
    return f"{len(RULES)} kinds and those of redact-secret {library.VERSION}"


def _by_rules(text: str) -> Iterator[Secret]:
    for kind, pattern in RULES.items():
        for match in pattern.finditer(text):
            group = "secret" if "secret" in pattern.groupindex else 0
            if kind not in GUESSED or not PLACEHOLDER.match(match[group]):
                yield Secret(match.start(group), match.end(group), kind)


def _by_library(text: str) -> Iterator[Secret]:
    if (library := _library()) is None:
        return
    for at in range(0, max(1, len(text) - OVERLAP), PIECE - OVERLAP):
        piece = text[at : at + PIECE]
        for one in library.scan(piece):
            if one.confidence == "high" and one.type != HEURISTIC:
                secret = piece[one.start : one.end].rstrip(".")  # the end of a sentence
                yield Secret(at + one.start, at + one.start + len(secret), str(one.type).replace("_", " "))


@cache
def _library() -> ModuleType | None:
    try:
        return import_module("redact_secret")
    except ImportError:
        return None
