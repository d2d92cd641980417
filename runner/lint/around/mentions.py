"""Cited folders and citations that stand without a figure: a blocked one is called blocked, at least."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from runner.lint.around.evidence import CALLED_BLOCKED, protocol_version
from runner.lint.artefacts import PATH, Shelf
from runner.lint.document.blocks import Block

CITED = re.compile(r"\bRecall (?:improvement )?measured (?:under|per)\b", re.IGNORECASE)
PLACEHOLDER = re.compile(r"<value>|<n>|\[value\]")


def mentions(block: Block, shelf: Shelf, file: Path) -> Iterator[tuple[int, int, str, str]]:
    """Line, column, rule and message of what is wrong with the block's mentions of runs."""
    for number, line in enumerate(block.lines, start=block.first):
        for match in PATH.finditer(line):
            source = shelf.sources(match[0], file)[0]
            if source.blocked and not CALLED_BLOCKED.search(block.raw):
                yield number, match.start() + 1, "not-citable", f"{source.path} is blocked, which is not said"
        cited = CITED.search(line)
        if cited is None or PLACEHOLDER.search(block.raw):
            continue
        if protocol_version(block.raw) is None:
            yield number, cited.start() + 1, "no-protocol", "a citation without the version of the protocol"
        if not PATH.search(block.raw):
            yield number, cited.start() + 1, "no-artefacts", "a citation without its results folder"
