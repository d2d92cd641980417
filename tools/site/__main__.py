"""`python -m tools.site [check FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.site import layout, links, reference


def main(arguments: list[str]) -> int:
    """Lay the pages out, or follow the links of a built site; 1 where one leads nowhere."""
    if arguments[:1] == ["check"]:
        found = links.broken(Path(arguments[1]))
        print(*found, f"{len(found)} broken links", sep="\n")
        return int(bool(found))
    layout.lay_out(reference.pages())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
