"""What every suite is: a name, where its file lies, and how its items become a Corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import CorpusError, UsageError
from runner.protocol import load_protocol
from runner.records import Corpus, View
from runner.suites.locate import locate
from runner.suites.reading import Source

everything = View("all")


@dataclass(frozen=True, slots=True)
class Suite:
    """One corpus. `granularities` and `views` are ordered: canonical first, "all" first.

    `read` makes the Corpus from an open Source. `other_files` are names that `locate` accepts in a
    folder besides the registered one; `committed` is the path of a corpus that lies in the repository.
    A figure of a corpus that is not `citable` proves an installation, and no recall (PROTOCOL.md §2.3).
    """

    name: str
    title: str
    granularities: tuple[str, ...]
    types: tuple[str, ...]
    views: Mapping[str, View]
    read: Callable[[Source, str], Corpus]
    other_files: tuple[str, ...] = ()
    committed: Path | None = None
    citable: bool = True

    def locate(self, data: Path | None, environ: Mapping[str, str]) -> Path:
        """The corpus file: `data`, else the suite's variable, else where `fetch` puts it (see locate.py)."""
        return locate(self.name, data, environ, self.other_files, self.committed)

    def load(self, path: Path, granularity: str | None = None) -> Corpus:
        """Read `path`; UsageError for a granularity that is not offered, CorpusError for a bad file.

        A file whose hash is not registered loads all the same, if its shape is right: gates decide.
        """
        level = granularity or self.granularities[0]
        if level not in self.granularities:
            known = ", ".join(self.granularities)
            raise UsageError(f"{self.name} has no granularity {level!r}; choose one of: {known}")
        source = Source(path)
        try:
            return self.read(source, level)
        except CorpusError as error:
            raise self._named(source) or error from None

    def _named(self, source: Source) -> CorpusError | None:
        """The error that calls a wrong file by its name, where the protocol knows the file."""
        protocol = load_protocol()
        try:
            digest = source.sha256()
        except CorpusError:
            return None  # cut or damaged: the first error says so
        what = protocol.known_files.get(digest)
        if what is None or digest == protocol.suites[self.name].sha256:
            return None
        return CorpusError(f"{source.path} is {what}, no corpus of the suite {self.name}; name another")
