"""The base of every suite: a name, the location of its corpus, and the reader of its items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from os.path import isfile  # unlike Path's, false where a folder above may not be entered
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.passages.windows import characters
from runner.errors import CorpusError
from runner.protocol.datasets.beir_folder import is_beir_folder
from runner.protocol.datasets.corpus_file import CorpusFile
from runner.protocol.datasets.locate import locate, locate_folder
from runner.protocol.editions import Edition, PassagePins, current
from runner.protocol.templates import TEMPLATES, Session, WrittenText
from runner.records import Corpus, SearchScope, View
from runner.runs.config import BY_TURNS, FULL, RunConfig

Write = Callable[[Session], WrittenText]
"""A text construction, with the edition's rule for passages."""

Split = Callable[[str], bool]
"""Whether the question with a key belongs to it: what is chosen on one split is reported on the other."""

UNSPLIT = "has no split of its questions"

everything = View("all")


def _odd(key: str) -> bool:
    """Return whether the last bit of the SHA-256 of a question's key is 1."""
    return bool(sha256(key.encode()).digest()[-1] & 1)


PARITY: Mapping[str, Split] = {"development": lambda key: not _odd(key), "held-out": _odd}


@dataclass(frozen=True, slots=True)
class LessonConstruction:
    """The construction of a lesson's text and passages.

    `template` is a name of TEMPLATES, `passages` is `turns` or `SIZE/OVERLAP` in characters. `most` is the
    maximum number of characters of a lesson; None: no limit.
    """

    template: str = FULL
    passages: str = BY_TURNS
    most: int | None = None

    @classmethod
    def of(cls, config: RunConfig) -> LessonConstruction:
        """Return the construction that a run's configuration names."""
        return cls(config.template, config.passages, config.max_chars)

    def check(self) -> None:
        """Raise UsageError for an unknown template, malformed passages, or a limit below 1."""
        TEMPLATES[self.template]
        if self.passages != BY_TURNS:
            characters(self.passages)
        if self.most is not None and self.most < 1:
            raise UsageError(f"--max-chars takes a positive number of characters, not {self.most}")

    def write(self, session: Session, pins: PassagePins) -> WrittenText:
        """Return the session as text, with its passages."""
        written = self._shortened(session, pins)
        if self.passages == BY_TURNS:
            return written
        return WrittenText(written.text, characters(self.passages).cut(written.text))

    def _shortened(self, session: Session, pins: PassagePins) -> WrittenText:
        """Return the text of the longest prefix of the session that fits, or else the start of the date
        line.
        """
        write = TEMPLATES[self.template].write
        written = write(session, pins)
        while self.most is not None and (excess := len(written.text) - self.most) > 0:
            if not session.turns:
                return WrittenText(written.text[: self.most], ())
            shorter = write(_shorter(session, excess), pins)
            alike = len(shorter.text) == len(written.text)  # the template leaves out the cut part
            session = _without_last(session) if alike else _shorter(session, excess)
            written = write(session, pins)
        return written


@dataclass(frozen=True, slots=True)
class Suite:
    """A corpus. The first of `levels`, the possible granularities of a lesson, is the suite's own.

    `read` makes the Corpus at a level from an open CorpusFile; a Write writes its texts. `file` is the name
    of its file if no edition pins one, and `embedder` then the default embedder of a run; `other_files` are
    further accepted names in a folder; `committed` is the folder of a corpus that is in the repository. For a
    corpus that is a folder, `folder_of` are the patterns of its files. `own`: the corpus is the user's, so
    that only --data leads to it, no edition ever registers it, and it needs no flag; `types` is then empty,
    because the file has its own. `splits` divide its questions, and `unsplit` says why it has no splits;
    `more_scopes` can be requested besides the Corpus's own; in such a pool an id may occur in several
    projects, and its copies are one hit.
    """

    name: str
    title: str
    levels: tuple[str, ...]
    types: tuple[str, ...]
    read: Callable[[CorpusFile, str, Write], Corpus]
    file: str = ""
    other_files: tuple[str, ...] = ()
    committed: Path | None = None
    embedder: str = "bge-m3"
    own: bool = False
    folder_of: tuple[str, ...] = ()
    splits: Mapping[str, Split] = field(default_factory=dict)
    unsplit: str = UNSPLIT
    more_scopes: tuple[SearchScope, ...] = ()

    def locate(self, data: Path | None, environ: Mapping[str, str]) -> Path:
        """Return the path of the corpus: `data`, else the suite's variable, else the data folder (see
        locate.py).
        """
        if self.own:
            return _given(self.name, data)
        if self.folder_of:
            return locate_folder(self.name, data, environ, self.folder_of, self.file, self.title)
        return locate(self.name, data, environ, self.file, self.other_files, self.committed)

    def chosen(self, path: Path, config: RunConfig, edition: Edition) -> Corpus:
        """Return the corpus at `path`, cut, written and scoped by a run's configuration."""
        split = config.split if self.own else ""
        corpus = self.load(
            path, config.level, edition=edition, construction=LessonConstruction.of(config), split=split
        )
        return replace(corpus, scopes=self._scopes(corpus, config.scopes)) if config.scopes else corpus

    def load(
        self,
        path: Path,
        level: str | None = None,
        template: str = FULL,
        edition: Edition | None = None,
        construction: LessonConstruction | None = None,
        split: str = "",
    ) -> Corpus:
        """Return the corpus at `path`.

        Raises UsageError for an unknown level or template, CorpusError for a bad file. `split` names the
        judgements of a user's BEIR folder. A corpus with an unregistered hash is loaded too, if its shape is
        right: gates decide about it.
        """
        wanted, counted = level or self.levels[0], edition or current()
        if wanted not in self.levels:
            known = ", ".join(self.levels)
            raise UsageError(f"{self.name} has no granularity {wanted!r}; choose one of: {known}")
        written = construction or LessonConstruction(template)
        written.check()
        source = CorpusFile(path.absolute(), split)  # artefacts never hold its folders
        try:
            return self.read(source, wanted, lambda session: written.write(session, counted.passages))
        except CorpusError as error:
            raise self._named(source, counted) or error from None

    def split(self, name: str) -> Split:
        """Return the split with this name.

        Raises UsageError with the known splits, or why the suite has none.
        """
        if name in self.splits:
            return self.splits[name]
        if not self.splits:
            raise UsageError(f"{self.name} {self.unsplit}; leave --split out")
        raise UsageError(f"{self.name} has no split {name!r}; choose one of: {', '.join(self.splits)}")

    def _scopes(self, corpus: Corpus, names: Sequence[str]) -> tuple[SearchScope, ...]:
        """Return the named scopes, in the suite's order; raise UsageError for an unknown scope."""
        known = (*corpus.scopes, *self.more_scopes)
        unknown = [name for name in names if name not in [scope.name for scope in known]]
        if unknown:
            offered = ", ".join(scope.name for scope in known)
            raise UsageError(f"{self.name} has no scope {unknown[0]!r}; choose from: {offered}")
        return tuple(scope for scope in known if scope.name in names)

    def views(self, edition: Edition) -> tuple[View, ...]:
        """Return the subsets of questions that have figures of their own: all, and the edition's views."""
        pins = edition.suites.get(self.name)
        return (everything, *(pins.views if pins else ()))

    def _named(self, source: CorpusFile, edition: Edition) -> CorpusError | None:
        """Return an error that names the known file which was given instead; None if the file is unknown.

        Returns None if the edition does not know it.
        """
        try:
            digest = source.sha256()
        except CorpusError:
            return None  # cut or damaged: the first error is enough
        what, pins = edition.known_files.get(digest), edition.suites.get(self.name)
        if what is None or (pins is not None and digest == pins.sha256):
            return None
        return CorpusError(f"{source.path} is {what}, no corpus of the suite {self.name}; name another")


def _given(suite: str, data: Path | None) -> Path:
    """Return the path of the user's own file.

    Raises UsageError without --data, CorpusError if it is no file.
    """
    if data is None:
        raise UsageError(
            f"the suite {suite} measures on your own data: name its JSON or JSONL with --data FILE "
            "(docs/howto/your-data.md)"
        )
    path = data.expanduser()
    if path == Path():
        raise CorpusError("--data is empty, or '.', and a folder is no file; name a JSON or JSONL file")
    if not isfile(path) and not is_beir_folder(CorpusFile(path)):
        raise CorpusError(
            f"--data names {path}, which is no file and no folder of BEIR or may not be read; name a JSON or "
            "JSONL file"
        )
    return path


def _shorter(session: Session, excess: int) -> Session:
    """Return the session with its last turn cut by `excess` characters, or without that turn."""
    last = session.turns[-1]
    if excess >= len(last.words) + len(last.caption):
        return _without_last(session)
    caption = last.caption[: max(len(last.caption) - excess, 0)]
    words = last.words[: len(last.words) - (excess - (len(last.caption) - len(caption)))]
    return replace(session, turns=(*session.turns[:-1], replace(last, words=words, caption=caption)))


def _without_last(session: Session) -> Session:
    return replace(session, turns=session.turns[:-1])
