"""Build and run the images of sql/Dockerfile and shards/Dockerfile on a machine without a container engine.

`python tools/try_images.py` needs some minutes, 4 GB of the temporary folder, root, and Debian's buildah and
debootstrap; if one of these is missing it says so, and the exit code is 3. It needs no registry. A minimal
Debian replaces the base images: sid with its PostgreSQL 18 and pgvector replaces pgvector/pgvector, with an
ENTRYPOINT that does what sql/Dockerfile relies on. All lines after FROM are the Dockerfiles' own. The
containers share this machine's network, so each server gets a free port. Compose itself is not run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

ROOT = Path(__file__).resolve().parents[1]
SUITES = {"docker.io/library/debian:bookworm-slim": "bookworm", "localhost/sid": "sid"}
FOUND = "SELECT external_id FROM pgmnemo.recall(%s, query_text => 'quick')"
PROGRAMS = ("buildah", "debootstrap")
PASSWORD, SECRET = "from-outside", "for-the-shards"
TENANT = "00000000-0000-0000-0000-0000000000a1"
PLACE = (TENANT, "00000000-0000-0000-0000-0000000000aa")
BASE = """FROM localhost/sid
RUN mkdir -p /etc/postgresql-common/createcluster.d /docker-entrypoint-initdb.d \\
 && echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.d/none.conf \\
 && apt-get -o Acquire::Check-Valid-Until=false update \\
 && apt-get install -y --no-install-recommends postgresql-18 postgresql-18-pgvector
COPY --chmod=755 entrypoint.sh /usr/local/bin/
ENV LANG=C.UTF-8
ENV PATH=/usr/lib/postgresql/18/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/18/docker
ENTRYPOINT ["entrypoint.sh"]
"""
PYTHON = """FROM docker.io/library/debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3
"""
ENTRYPOINT = """#!/bin/sh
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  install -d -o postgres -g postgres /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256
  rm /tmp/password
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl -D "$PGDATA" -w -o "-c listen_addresses=''" start
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sql; do
    psql -q -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -f "$script"
  done
  pg_ctl -D "$PGDATA" -w -m fast stop
fi
exec "$@"
"""


class Images:
    """Images and containers, stored in a separate folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        store = ("--root", f"{folder}/storage", "--runroot", f"{folder}/run", "--storage-driver", "vfs")
        self.buildah = ("buildah", *store)

    def do(self, *words: str | Path) -> str:
        """Run buildah with these arguments and return its output."""
        return run(*self.buildah, *words).strip()

    def debian(self, name: str, suite: str) -> None:
        """Create an image with a minimal Debian."""
        tree = self.folder / suite
        timed(f"debootstrap {suite}", "debootstrap", "--variant=minbase", suite, tree)
        (tree / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")  # as Debian's own images
        container = self.do("from", "scratch")
        self.do("add", container, tree, "/")
        self.do("commit", "--quiet", "--rm", container, name)
        shutil.rmtree(tree)

    def build(self, name: str, context: Path) -> None:
        """Build an image from the Dockerfile in a folder."""
        command = ("build", "--isolation", "chroot", "--pull=never", "--quiet", "-t", name, context)
        timed(f"build {name}", *self.buildah, *command)

    @contextmanager
    def running(self, container: str, port: int, environ: Mapping[str, str]) -> Iterator[None]:
        """Run the command of a container's image, a server on `port`, until the end of the block."""
        said = json.loads(self.do("inspect", container))["OCIv1"]["config"]
        command = [*said.get("Entrypoint", []), *said["Cmd"]]
        pairs = {**environ, "PGPORT": str(port)}
        given = [word for name, value in pairs.items() for word in ("--env", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        process = subprocess.Popen(
            [*self.buildah, "run", "--isolation", "chroot", *given, container, "--", *command],
            stdout=log, stderr=log,
        )  # fmt: skip
        try:
            yield
        finally:
            stop(process)
            log.close()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the server below a process with the image's STOPSIGNAL, as a container engine would."""
    for one in psutil.Process(process.pid).children(recursive=True):
        if one.name() == "postgres":
            one.send_signal(signal.SIGINT)
            break
    process.wait(60)


def run(*command: str | Path, **environ: str) -> str:
    """Run a command and return its output; exit with 1 if it fails."""
    given = {**os.environ, **environ}
    done = subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False, env=given
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def timed(what: str, *command: str | Path, **environ: str) -> None:
    began = time.perf_counter()
    run(*command, **environ)
    print(f"{time.perf_counter() - began:6.1f} s  {what}", flush=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def connected(port: int, password: str, user: str = "pgmnemo") -> psycopg.Connection[Any]:
    """Return a connection over TCP; wait until the server answers."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return psycopg.connect(
                host="127.0.0.1", port=port, user=user, password=password, dbname="pgmnemo", autocommit=True
            )
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def try_memory(images: Images) -> None:
    """Try the image of sql/Dockerfile: a benchmark run finds it, and a restart keeps the stored lessons."""
    container, port = images.do("from", "pgmnemo"), free_port()
    environ = {"POSTGRES_USER": "pgmnemo", "POSTGRES_DB": "pgmnemo", "POSTGRES_PASSWORD": PASSWORD}
    with images.running(container, port, environ), connected(port, PASSWORD) as login:
        login.execute("SELECT pgmnemo.grant_tenant(%s, 'pgmnemo')", (TENANT,))
        login.execute("SELECT pgmnemo.store(%s, %s, 'k', 'the quick fox', commit_sha => 'c0ffee')", PLACE)
        command = (sys.executable, "-m", "runner", "sample", "--embedder", "none", "--output", images.folder)
        place = {"PYTHONHASHSEED": "42", "PGMNEMO_PORT": str(port), "PGMNEMO_PASSWORD": PASSWORD}
        timed("the sample, on the compose service that it found", *command, **place)
        [run_file] = images.folder.glob("v*/run.json")
        assert '"compose"' in run_file.read_text(encoding="utf-8"), "the run used another server"
    with images.running(container, port, environ), connected(port, PASSWORD) as login:
        told = login.execute(FOUND, (TENANT,)).fetchall()
        version = login.execute("SELECT pgmnemo.version()").fetchone()
    assert told == [("k",)], told
    print(f"the image of sql/Dockerfile holds pgmnemo {version}, and a restart kept what was stored")


def try_router(images: Images) -> None:
    """Try the image of shards/Dockerfile before that of sql/Dockerfile: store and recall through it."""
    shard, router = free_port(), free_port()
    inner = {"POSTGRES_USER": "pgmnemo", "POSTGRES_DB": "pgmnemo", "POSTGRES_PASSWORD": SECRET}
    outer = {"PGMNEMO_PASSWORD": PASSWORD, "PGMNEMO_SHARD_SECRET": SECRET}
    place = {
        "PGPASSWORD": SECRET,
        "PGMNEMO_SHARD_SECRET": SECRET,
        "PGMNEMO_ROUTER": f"host=127.0.0.1 port={router} dbname=pgmnemo user=pgmnemo password={PASSWORD}",
    }
    address = f"host=127.0.0.1 port={shard} dbname=pgmnemo"
    operator = f"{address} user=pgmnemo"
    shards = (sys.executable, "-m", "pgmnemo_shards")
    with (
        images.running(images.do("from", "pgmnemo"), shard, inner),
        images.running(images.do("from", "pgmnemo-router"), router, outer),
        connected(shard, SECRET),
        connected(router, PASSWORD) as login,
    ):
        add = ("add", "shard1", "--address", address, "--operator", operator)
        for words in (add, ("login", "alice"), ("grant", TENANT, "alice")):
            timed(f"shards {words[0]}", *shards, *words, **place)
        login.execute("ALTER ROLE alice PASSWORD 'hers'")
        with connected(router, "hers", "alice") as alice:
            alice.execute("SELECT pgmnemo.store(%s, %s, 'k', 'the quick fox', commit_sha => 'c0ffee')", PLACE)
            told = alice.execute(FOUND, (TENANT,)).fetchall()
    assert told == [("k",)], told
    print("the image of shards/Dockerfile routes: a login stored and recalled through it")


def main() -> int:
    """Create the base images, build both images and try them."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking or os.geteuid() != 0:
        said = f"Debian's {' and '.join(lacking)}" if lacking else "root"
        print(f"the images were not tried: this needs {said}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="pgmnemo-images-") as name:
        images, context = Images(Path(name)), Path(name, "base")
        for image, suite in SUITES.items():
            images.debian(image, suite)
        context.mkdir()
        (context / "entrypoint.sh").write_text(ENTRYPOINT, encoding="utf-8")
        first = (ROOT / "sql" / "Dockerfile").read_text(encoding="utf-8")
        [python] = re.findall(r"^FROM (\S+) AS scripts$", first, re.MULTILINE)
        [base] = re.findall(r"^FROM (\S+)$", first, re.MULTILINE)
        for image, text in ((f"library/{python}", PYTHON), (base, BASE)):
            (context / "Dockerfile").write_text(text, encoding="utf-8")
            images.build(f"docker.io/{image}", context)
        images.build("pgmnemo", ROOT / "sql")
        images.build("pgmnemo-router", ROOT / "shards")
        try_memory(images)
        try_router(images)
    return 0


if __name__ == "__main__":
    sys.exit(main())
