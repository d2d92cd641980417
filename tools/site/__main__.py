"""Build the pages of the site, or finish a built one: `python -m tools.site [llms FOLDER | check FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.site import layout, links, llms, reference


def main(arguments: list[str]) -> int:
    """Write the pages, or llms.txt, or check the links of a built site; return 1 if a link is broken."""
    if arguments[:1] == ["llms"]:
        print(llms.write(Path(arguments[1])))
        return 0
    if arguments[:1] == ["check"]:
        found = links.broken(Path(arguments[1]))
        print(*found, f"{len(found)} broken links", sep="\n")
        return int(bool(found))
    layout.lay_out(reference.pages())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
