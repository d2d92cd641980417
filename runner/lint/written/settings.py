"""What is no value: a version, a setting, a size, a time, a date, a confidence level, a spread."""

from __future__ import annotations

import re

from runner.lint.written.digits import NEAR

NO_UNIT = re.compile(
    r"(?:\s*(?:to|and|or|\u2013|-|/|→|,)\s*\d[\d.]{0,8}(?=\s?(?:ms|µs|s|seconds?|minutes?|[kMG]i?B)\b))?"
    r"\s{0,4}(?:ms|s|sec|seconds?|min|minutes?|h|hours?|[kMGT]i?B|x|tokens?|dimensions?|dims?|chars?|"
    r"characters?|px|"
    r"times|lessons|sessions|questions|turns|memories|texts|cores?|days?|items|million|thousand|"
    r"conversations|"
    r"dollars?|cents?|euros?|pounds?|USD|EUR|GBP|[$€£]|seats?|users?|degrees|"
    r"projects|clusters|runs|retries|rows|weights?|GPUs?|CPUs?|commits|files|lines|years|weeks|months|"
    r"times?|chats|messages|segments|arms|systems|versions)\b(?!/)"
)
CALLS = re.compile(
    r"\s*of\s+(?:them|the\s+(?:calls|runs|requests|memory|text|code|users)|users|"
    r"calls|requests)\b"
)
LEVEL = re.compile(
    r"\s*%?[\s-]*(?:(?:\w+\s+){0,2}(?:intervals?|CI|confidence|quantile|bootstrap)|levels?|percentile)\b",
    re.IGNORECASE,
)
SETTING = re.compile(
    r"(?:\b(?:n|k|k1|b|p|q|t|z|alpha|beta|lambda|seed|weights?|versions?|python|postgresql|postgres|"
    r"limit|"
    r"threshold|temperature|depth|batch(?: size)?|half[- ]life|ef|"
    r"section|chapter|table|issue|step|half-width|margin(?: of error)?|"
    r"error|tolerance|decay|dropout|first|top|rank|importance|recency|default|"
    r"dated?|size|page|line)|\b(?!recall|MRR|nDCG|hit)[a-z]\w{0,40}[._][a-z]\w{0,40}[`*]{0,3})"
    r"\s{0,3}(?:is|of|=|:|,|to|at|from|≈|about|around|§|\s)*"
    r"[`*\"'(]*$",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"\b([A-Za-z_][\w.]{0,60})[`*]*\s*(?:=|:=)\s*[`*]*$")
SYSTEM = re.compile(r"\b(?:pgvector|pgmnemo)\s{0,3}$", re.IGNORECASE)
VERSION = re.compile(r"0\.\d")
VALUES = {"value", "score", "result", "recall", "figure", "mrr", "ndcg", "rate", "hybrid", "ours", "pgmnemo"}
REQUIRED = re.compile(
    r"\b(?:requires?|demands?|asks?\s+for|targets?(?:\s+of)?|goals?(?:\s+of)?|must\s+reach|needs|"
    r"wants)\s+(?:at\s+least\s+)?$",
    re.I,
)
TIMED = re.compile(
    r"\d\s?(?:ms|µs|s|seconds?)\b(?:\s+\([^()]*\))?,?\s+(?:instead of|rather than|against|"
    r"versus|vs\.?|to|and)\s+$",
    re.I,
)
MONEY = re.compile(r"[$€£]\s?$|\b(?:USD|EUR|GBP)\s$")
SPREAD = re.compile(r"(?:±|\+/-|\+-|within|half-width of(?: about)?)\s*$")


def is_set(text: str, start: int) -> bool:
    """Whether the words in front of a number make it a setting."""
    return SETTING.search(text[max(0, start - NEAR) : start]) is not None


def is_other(text: str, match: re.Match[str]) -> bool:
    """Whether a number that was found in `text` is something else than a value."""
    before, after = text[max(0, match.start() - NEAR) : match.start()], text[match.end() : match.end() + NEAR]
    if re.search(r"\d[-:]$", before) and "." not in match["number"]:
        return True  # part of a date or a time
    unit = text[match.end("number") : match.end("number") + NEAR]
    if (
        LEVEL.match(unit)
        or (not match["unit"] and NO_UNIT.match(after))
        or CALLS.match(after)
        or SPREAD.search(before)
        or MONEY.search(before)
        or REQUIRED.search(before)
        or TIMED.search(before)
    ):
        return True
    assigned = ASSIGNED.search(before)
    if assigned:
        word = assigned[1].lower()
        value = word in VALUES or re.match(r"(?:recall|any|frac|all|mrr|ndcg|hit|r$)", word)
        return not (value or (match["unit"] and len(word) > 2 and SETTING.search(before) is None))
    if SYSTEM.search(before) and VERSION.fullmatch(match["number"]) and not match["unit"]:
        return True
    return SETTING.search(before) is not None
