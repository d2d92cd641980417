"""The router's PostgreSQL with PL/Proxy, from Debian's packages."""

from __future__ import annotations

from pathlib import Path

from pgmnemo.errors import DatabaseError

HOMES = Path("/usr/lib/postgresql")
PACKAGE = "postgresql-15-plproxy"


def router_home(homes: Path = HOMES) -> Path:
    """Return the folder of the newest PostgreSQL with PL/Proxy.

    Raise DatabaseError with the name of the package if there is no such folder.
    """
    found = [
        library.parents[1] for library in homes.glob("*/lib/plproxy.so")
        if all((library.parents[1] / "bin" / program).is_file() for program in ("postgres", "initdb"))
    ]  # fmt: skip
    if not found:
        raise DatabaseError(
            f"there is no PostgreSQL with PL/Proxy in {homes}: have an administrator run "
            f"apt-get install {PACKAGE} (Debian 12); nothing else here needs his rights"
        )
    return max(found, key=lambda home: int(home.name) if home.name.isdigit() else 0)
