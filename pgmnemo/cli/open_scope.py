"""Open the memory and the scope that a command works in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pgmnemo.cli.options import NONE, MemoryFlags
from pgmnemo.client.naming import parse_name
from pgmnemo.errors import UsageError

if TYPE_CHECKING:
    from pgmnemo import Memory, Scope


@contextmanager
def open_memory(
    place: str | None, quiet: bool, embedder: str = NONE, *, make: bool = False
) -> Iterator[Memory]:
    """Yield the memory of a place; make a memory in an empty folder only if `make` is true."""
    from pgmnemo import Memory
    from pgmnemo.progress import Progress

    place = place if make else check_has_memory(place)
    with Memory.open(place, embedder=embedder, connections=1, progress=Progress(quiet)) as opened:
        yield opened


@contextmanager
def open_scope(
    where: MemoryFlags, embedder: str = NONE, *, make: bool = False, others: Sequence[str] = ()
) -> Iterator[Scope]:
    """Yield a project of a tenant, or all of the tenant; a recall spans the tenants `others`, too."""
    with open_memory(where.memory, where.quiet, embedder, make=make) as opened:
        tenant = opened.tenant(parse_name(where.tenant)).with_(*map(parse_name, others))
        yield tenant if where.scope is None else tenant.project(parse_name(where.scope))


def check_has_memory(place: str | None) -> str | None:
    """Return the place unchanged; raise UsageError for a folder without a memory."""
    from pgmnemo.client.location import resolve_location

    if isinstance(where := resolve_location(place), Path):
        _check_has_memory(where)
    return place


def memory_folder(place: str | None) -> Path:
    """Return the folder of a memory; raise UsageError for a database, or a folder without a memory."""
    from pgmnemo.client.location import resolve_location

    where = resolve_location(place)
    if not isinstance(where, Path):
        raise UsageError("this is for the memory of a folder, and a DSN is given; name a folder")
    _check_has_memory(where)
    return where


def empty_folder(place: str | None) -> Path | None:
    """Return the folder in which opening would make a memory; None for a memory or a database."""
    from pgmnemo.client.location import resolve_location

    where = resolve_location(place)
    return where if isinstance(where, Path) and _is_empty(where.expanduser()) else None


def _check_has_memory(folder: Path) -> None:
    """Raise UsageError for a folder without a memory."""
    if _is_empty(folder := folder.expanduser()):
        raise UsageError(f"there is no memory in {folder}; make one by mnemo init, or name another folder")


def _is_empty(folder: Path) -> bool:
    try:
        return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except PermissionError:  # the error on opening names the owner
        return False
