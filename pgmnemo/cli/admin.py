"""Commands for a memory as a whole: make, grant, upgrade, export, import, re-embed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pgmnemo.cli.coding_agent import NAMES as AGENTS
from pgmnemo.cli.coding_agent import AgentFlags, set_up_agent
from pgmnemo.cli.open_scope import empty_folder, memory_folder, open_scope
from pgmnemo.cli.open_scope import open_memory as opened
from pgmnemo.cli.options import (
    DEFAULT,
    LOCAL,
    ME,
    NONE,
    PROJECT,
    STANDARD,
    Dashed,
    DryRun,
    Embedder,
    Json,
    KeepSecrets,
    MemoryFlags,
    Names,
    Place,
    Quiet,
    TenantFlags,
)
from pgmnemo.cli.output import lessons, outcomes, print_answer, print_note
from pgmnemo.client.naming import parse_name, tenant_id
from pgmnemo.client.records import to_builtins
from pgmnemo.errors import UsageError
from pgmnemo.redaction import summary

if TYPE_CHECKING:
    from pgmnemo.importers.run_import import ImportResult

WHOLE, HERE, NO_AGENT = TenantFlags(), MemoryFlags(), AgentFlags()


def init(
    folder: str | None = None, /, *, dsn: str | None = None, grant: Names = None, role: str | None = None,
    way: Literal["extension", "pg_tle", "plain"] | None = None, embedder: str | None = None,
    agent: AgentFlags = NO_AGENT, json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Make a memory in a folder or a database, or set up an agent.

    A folder gets its own PostgreSQL, which runs while a program uses the
    memory. In a database pgmnemo is installed in the first way that the
    server permits: as an extension, by pg_tle, or as plain SQL. An
    existing memory is kept as it is, or updated. `mnemo init claude`
    (codex, gemini, opencode, cursor) writes hooks and an MCP server into
    that agent's settings: it shows the change and asks first.

    Args:
        folder: the folder of the memory, or the name of an agent (./claude
            is a folder); else what PGMNEMO_MEMORY names, else the folder
            pgmnemo/memory among your data
        dsn: a database instead, postgresql://user@host/database
        grant: tenant that --role may work for there; may be repeated
        role: a role of the database; else the one that logs in
        way: install in this way, and in no other
        embedder: the embedder that makes your vectors, such as
            multilingual-e5-small-4bit or "endpoint model=M
            endpoint_url=URL"; its model is fetched now
    """
    if folder in AGENTS and dsn is None:
        if grant or role or way:
            raise UsageError("--grant, --role and --way are for a database; leave them out")
        if (Path(folder) / "mnemo.json").exists():
            raise UsageError(
                f"{folder} is an agent, and a folder with a memory; for the folder write ./{folder}"
            )
        set_up_agent(folder, agent, embedder, json, quiet)
        return
    if agent.given():
        raise UsageError(
            f"{agent.given()[0]} is for a coding agent; name one: mnemo init {', '.join(AGENTS)}"
        )
    if dsn is not None:
        if folder is not None:
            raise UsageError("init takes a folder or --dsn, not both")
        if embedder is not None:
            raise UsageError("--embedder is for a folder; for a database, give it to mnemo reembed")
        _install(dsn, grant or [], role, way, json, quiet)
        return
    if grant or role or way:
        raise UsageError("--grant, --role and --way are for a database; name one by --dsn")
    from pgmnemo.client.location import resolve_location

    with opened(folder, quiet, embedder or NONE, make=True) as here:
        if embedder is not None and embedder != NONE:
            # loads the model; refused where vectors of another embedder are there already
            here.tenant(parse_name(os.environ.get("PGMNEMO_TENANT") or ME)).recall("Which model answers?")
        made = here.tenant(ME).stats()
    print_answer(
        json,
        {"place": made.place, "pgmnemo": made.extension, "postgresql": made.postgresql},
        f"{made.place} is ready: pgmnemo {made.extension}, PostgreSQL {made.postgresql}",
    )
    if folder is not None and resolve_location(None) != Path(folder):
        print_note(
            quiet, f"set PGMNEMO_MEMORY={Path(folder).resolve()}, or add --memory {folder} to each command"
        )
    if embedder not in (None, LOCAL):
        option = shlex.quote(str(embedder))
        print_note(quiet, f"set PGMNEMO_EMBEDDER={option}, or add --embedder {option} to each command")


def _install(dsn: str, grant: list[str], role: str | None, way: str | None, json: bool, quiet: bool) -> None:
    from pgmnemo.client.location import dsn_parameters
    from pgmnemo.postgres.install import install_into_database
    from pgmnemo.probe import PLAIN_SQL
    from pgmnemo.progress import Progress

    done = install_into_database(
        dsn_parameters(dsn), tenants=[tenant_id(parse_name(name)) for name in grant], role=role,
        way=PLAIN_SQL if way == "plain" else way, progress=Progress(quiet),
    )  # fmt: skip
    became = f"updated from {done.former}" if done.former else "installed"
    print_answer(
        json,
        done,
        f"pgmnemo {done.version} {became if done.changed else 'was there'} ({done.way}); "
        f"{done.owner} owns it",
        *(f"{done.role} may work for the tenant {name}" for name in grant),
    )
    if not grant:
        print_note(quiet, "let a role in: mnemo grant TENANT --role ROLE --memory DSN")


def upgrade(folder: str | None = None, /, *, json: Json = False, quiet: Quiet = False) -> None:
    """Bring a folder to the newest PostgreSQL and pgmnemo.

    The former data is kept. Faults that doctor finds in the index of a
    tenant are repaired, and what waits for the index is brought in.

    Args:
        folder: the folder of the memory; else what PGMNEMO_MEMORY names,
            else the folder pgmnemo/memory among your data
    """
    from pgmnemo.postgres.embedded import upgrade as upgraded
    from pgmnemo.progress import Progress

    path = memory_folder(folder)
    upgraded(path, Progress(quiet))
    print_answer(
        json, {"folder": str(path)}, f"the memory in {path} is of the newest PostgreSQL and pgmnemo here"
    )


def grant(
    tenant: str, /, *, role: str | None = None, access: Literal["read", "write"] = "write",
    memory: Place = None, json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Let a role of a database read or write a tenant's lessons.

    Only the owner of pgmnemo in that database may grant. A second grant
    with another --access changes the first.

    Args:
        tenant: a name or uuid
        role: a role of the database; else the one that logs in
        access: read allows recall and other commands that change
            nothing; write allows all commands
    """
    with opened(memory, quiet) as here:
        here.grant(parse_name(tenant), role, access)
    told = {"tenant": tenant, "role": role, "access": access}
    print_answer(json, told, f"{role or 'the role that logs in'} may {access} the tenant {tenant}")


def export(
    file: Annotated[Dashed, Parameter(help="a new file; -: standard output")], /, *,
    no_vectors: bool = False, where: TenantFlags = WHOLE,
) -> None:  # fmt: skip
    """Write the lessons of a tenant or a project to a file of JSON lines.

    Args:
        no_vectors: leave out the vectors; the file is smaller, and an
            import computes the vectors again
    """
    from pgmnemo.progress import Progress

    assert file is not None
    if file.endswith(".gz"):
        raise UsageError(
            f"an export is not packed, and {file} is the name of a packed file; leave .gz out, "
            f"or pack it: mnemo export - | gzip > {shlex.quote(file)}"
        )
    to = sys.stdout.buffer if file == STANDARD else file
    with open_scope(where) as here:
        number = here.export(to, vectors=not no_vectors, progress=Progress(where.quiet))
    if file == STANDARD:
        print_note(where.quiet, f"wrote {lessons(number)}")
    else:
        print_answer(where.json, {"lessons": number}, f"wrote {lessons(number)} to {file}")


def reembed(*, batch: int = 64, where: TenantFlags = WHOLE, embedder: Embedder = LOCAL) -> None:
    """Replace a tenant's vectors by vectors of another embedder, --embedder.

    The old vectors are used until all new ones are stored. If the command
    is interrupted, run it again: it continues. Then restart the programs
    that have the memory open, with the new embedder.

    Args:
        batch: number of texts that are embedded and stored at a time
    """
    from pgmnemo.progress import Progress

    with open_scope(where) as here:
        number = here.reembed(embedder, batch=batch, progress=Progress(where.quiet))
    print_answer(where.json, {"texts": number}, f"embedded {lessons(number, 'text')} by {embedder}")


def language(language: str | None = None, /, *, where: MemoryFlags = HERE) -> None:
    """Print or set the language of a tenant's texts.

    It applies to new texts that are written without --language. The words
    of stored lessons change only with mnemo recut.

    Args:
        language: auto recognizes the language of each text; auto:de takes
            German for a text that is too short to tell; de takes German
            for every text
    """
    with open_scope(where) as here:
        found = here.language(language)
    print_answer(where.json, {"language": found}, found)


def recut(*, language: str | None = None, where: MemoryFlags = HERE) -> None:
    """Split all lessons of a tenant into words again.

    The language is the tenant's, as mnemo language sets it, also for
    lessons that were written with another language. If the command is
    interrupted, run it again: it continues.

    Args:
        language: auto recognizes the language of each text, de takes
            German for all; else the tenant's language
    """
    from pgmnemo.progress import Progress

    with open_scope(where) as here:
        number = here.recut(language, progress=Progress(where.quiet))
    print_answer(where.json, {"lessons": number}, f"cut {lessons(number)} anew")


def import_(
    place: Dashed, /, *,
    format: Annotated[str | None, Parameter(name="--from", metavar="FORMAT")] = None,
    skip_faults: bool = False, dated: bool = False, whole: bool = False, tools: bool = False,
    refresh: bool = False, keep_secrets: KeepSecrets = False, keep_projects: tuple[str, ...] = (),
    dry_run: DryRun = False, where: TenantFlags = WHOLE, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Import an export, or the memory of another program.

    Each lesson is stored in the project that its source names, or else
    in the default project; --project stores all of them in one project.
    If the import is interrupted, run it again: stored lessons stay
    unchanged. Secrets in texts are redacted, but not in an export of a
    memory.

    Args:
        place: a file or folder, or of langgraph and hindsight the DSN of
            their database; -: an export from standard input
        format: claude-code, codex, chatgpt, claude, mem0, mempalace,
            langgraph, hindsight, markdown or jsonl; else found from the
            content
        skip_faults: leave out damaged entries instead of stopping
        dated: take the date in a Markdown file's front matter as the
            time of its lessons
        whole: make one lesson of a Markdown file, not one of each
            section
        tools: also store the output of a coding agent's tools, with the
            role tool
        refresh: also update the other fields of lessons whose text has
            not changed
        keep_projects: project of an export that keeps its name under
            another tenant; repeat it for more. The default project does
            so without this
    """
    from pgmnemo.importers import ImportOptions
    from pgmnemo.importers.jsonl import is_export
    from pgmnemo.importers.run_import import EmptyScope, detect_format, import_lessons
    from pgmnemo.progress import Progress

    assert place is not None
    progress = Progress(where.quiet)
    usual = os.environ.get(PROJECT) or DEFAULT
    kept = (usual, *keep_projects)
    new = empty_folder(where.memory) if dry_run else None
    if new:
        print_note(where.quiet, f"there is no memory in {new} yet; the import would make it")
    if place == STANDARD:
        with nullcontext(EmptyScope()) if new else open_scope(where, embedder, make=True) as here:
            moved = here.import_(sys.stdin.buffer, keep_projects=kept, dry_run=dry_run, progress=progress)
        print_answer(where.json, moved, _import_summary("an export", moved.outcomes, dry_run))
        return
    found, options = (
        format or detect_format(place),
        ImportOptions(
            skip_faults=skip_faults, dated=dated, whole=whole, tools=tools, keep_secrets=keep_secrets
        ),
    )
    own = found == "jsonl" and is_export(place)  # its lessons have their own projects
    into = where if own else replace(where, project=where.project or usual)
    with nullcontext(EmptyScope()) if new else open_scope(into, embedder, make=True) as here:
        done = import_lessons(
            here, place, found, project=where.project, options=options, keep_projects=kept, dry_run=dry_run,
            refresh=refresh, progress=progress,
        )  # fmt: skip
    for sentence in done.left.named:
        print_note(where.quiet, f"left out: {sentence}")
    projects = {name or usual: number for name, number in done.projects.items()}
    told = {**to_builtins(done), "projects": projects}
    print_answer(where.json, told, _import_summary(done.format, done.outcomes, dry_run), *_remarks(done))


def _import_summary(format: str, counted: Mapping[str, int], dry_run: bool) -> str:
    return f"{format}{', dry run' if dry_run else ''}: {outcomes(counted)}"


def _remarks(done: ImportResult) -> Iterator[str]:
    if done.left.counts:
        yield f"left out of {done.read:,} read: {outcomes(done.left.counts)}"
    if done.redacted:
        yield f"{'would redact' if done.dry_run else 'redacted'}: {summary(done.redacted)}"
    if done.left.beside:
        yield f"not read beside them: {outcomes(done.left.beside)}"
