"""The pins of an edition of the protocol: immutable records, named like the tables of edition.toml."""

from __future__ import annotations

import msgspec

from pgmnemo.errors import UsageError
from pgmnemo.paths import release_numbers
from runner.records import View


class Pins(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of edition.toml. Immutable; a missing or an unknown pin is an error."""


class RetrievalPins(Pins, frozen=True):
    """The pins of retrieval: `depth` is the number of ranks kept.

    `timed` questions of each scope are timed at `timed_k`; `timed_reranked` of them are timed again with a
    reranker.
    """

    depth: int
    default_k: int
    timed_k: int
    timed: int
    timed_reranked: int


class MetricPins(Pins, frozen=True):
    """The pins of the metrics: `code` is the version of the metric code.

    `families` name records of protocol/metrics/families/. `budgets` are numbers of tokens.
    """

    code: str
    families: tuple[str, ...]
    cutoffs: tuple[int, ...]
    mrr_depth: int
    ndcg_depth: int
    headline: tuple[str, ...]
    budgets: tuple[int, ...] = ()


class EmbeddingPins(Pins, frozen=True):
    """The stored width of a vector, and the defaults of an embedder without its own pins."""

    width: int
    max_tokens: int
    batch_size: int


class EmbedderPins(Pins, frozen=True):
    """A canonical embedder as the protocol configures it.

    `revision` is a commit of the hub (two for a pair of encoders), or `sha256:` and the hash of the weights;
    `disclose` is a sentence that every claim made with it must include, on the suites of `disclose_on`
    (empty: on all).
    """

    model: str
    revision: str
    dimensions: int
    max_tokens: int
    batch_size: int
    query_prefix: str = ""
    document_prefix: str = ""
    disclose: str = ""
    disclose_on: tuple[str, ...] = ()


class PassagePins(Pins, frozen=True):
    """The rule that cuts a segment into passages: windows of at most `turns`, every `step` turns.

    For messages to an assistant, only the first `characters` are embedded.
    """

    turns: int
    step: int
    characters: int


class EnginePins(Pins, frozen=True):
    """The input and output of the extension, from version `since` on.

    `passages` says whether a lesson is stored with its passages. `components` are the components of the
    score, in the order in which recall_lessons returns them; `<component>_weight` is the setting of each.
    """

    since: str
    passages: bool
    components: tuple[str, ...]


class ArtefactPins(Pins, frozen=True):
    """The files that a citable results folder must contain."""

    required: tuple[str, ...]


class SchemaPins(Pins, frozen=True):
    """The schema of each file that a run writes; for report.md, the template."""

    raw: str
    timings: str
    run: str
    metrics: str
    report: str
    manifest: str
    reranks: str
    rewrites: str


class CountingRule(Pins, frozen=True):
    """Another project's rule for counting the same rankings: its metrics, its k, and its questions.

    It applies to the first scope. `without` names keys of questions that are left out, by level. `uncited` is
    the value of a question that cites nothing (None: not counted), `unmarked` the value of a question that is
    not asked because the corpus marks no lesson of the level for it. `levels` are the levels that the rule
    applies to (empty: all). Its figures are shown next to the edition's figures and never replace them.
    """

    name: str
    words: str
    metrics: tuple[str, ...]
    without: dict[str, tuple[str, ...]] = {}
    uncited: float | None = None
    unmarked: float | None = None
    levels: tuple[str, ...] = ()


class SuitePins(Pins, frozen=True):
    """A registered corpus: its hash, the counts that its shape must have, and its canonical embedder.

    `file` is its file, or the folder of its files. `sha256` and `bytes` are of the unpacked file; for a
    folder, `sha256` is that of the list of its files' hashes: a line `<sha256> <name>` each, in order of
    name. `files` is the path of this list, relative to the folder of all editions. `views` are the subsets of
    questions besides all, `headline_view` the view of the headline. `split` says how choices on the corpus
    are kept apart from reports. A folder without a pinned list has a `listing`, the URL of the list of its
    files. All suites except the sample and the corpora that were never available have every field of a public
    corpus.
    """

    file: str
    what: str
    embedder: str
    granularity: str
    scopes: tuple[str, ...]
    shape: dict[str, int] = {}
    clustered: bool = False
    citable: bool = True
    files: str | None = None
    views: tuple[View, ...] = ()
    headline_view: str = "all"
    readings: tuple[CountingRule, ...] = ()
    split: str = ""
    sha256: str | None = None
    bytes: int | None = None
    data_variable: str | None = None
    url: str | None = None
    listing: str | None = None


class OtherFile(Pins, frozen=True):
    """A file that is not a registered corpus; messages use its description."""

    sha256: str
    what: str


class Edition(Pins, frozen=True):
    """An edition. `sha256` is of the bytes of its PROTOCOL.md, `pins_sha256` of its edition.toml.

    `gates` name records of runner/protocol/gates/, `arms` the retrievers and controls besides the system
    under test; `variance` maps a suite and a metric to the acceptable difference between two runs (§6),
    `stated` names the fields of run.json that nothing can check.
    """

    version: str
    sha256: str
    pins_sha256: str
    seed: int
    gates: tuple[str, ...]
    pgmnemo_gates: tuple[str, ...]  # the gates that judge only pgmnemo
    arms: tuple[str, ...]
    stated: tuple[str, ...]
    retrieval: RetrievalPins
    metrics: MetricPins
    embedding: EmbeddingPins
    embedders: dict[str, EmbedderPins]
    passages: PassagePins
    engines: dict[str, EnginePins]
    artefacts: ArtefactPins
    schemas: SchemaPins
    settings: dict[str, str | float]
    suites: dict[str, SuitePins]
    other_files: dict[str, OtherFile]
    variance: dict[str, dict[str, float]]

    def engine(self, version: str) -> EnginePins:
        """Return the newest engine that is not newer than `version`; the oldest one if all are newer.

        The oldest engine for an older version.
        """
        oldest, *newer = sorted(self.engines.values(), key=lambda one: release_numbers(one.since))
        found = oldest
        for one in newer:
            found = one if release_numbers(one.since) <= release_numbers(version) else found
        return found

    def disclosures(self, embedder: str, suite: str) -> tuple[str, ...]:
        """Return the sentences that every claim made with an embedder on a suite must include."""
        pins = self.embedders.get(embedder)
        if pins is None or not pins.disclose or (pins.disclose_on and suite not in pins.disclose_on):
            return ()
        return (pins.disclose,)

    def suite(self, name: str) -> SuitePins:
        """Return the pins of a suite; raise UsageError if it has no registered corpus."""
        try:
            return self.suites[name]
        except KeyError:
            known = ", ".join(self.suites)
            raise UsageError(
                f"protocol {self.version} registers no corpus of the suite {name}; it registers: {known}"
            ) from None

    @property
    def known_files(self) -> dict[str, str]:
        """Return the description of each file that the edition knows, by SHA-256."""
        registered = {pins.sha256: pins.what for pins in self.suites.values() if pins.sha256}
        return registered | {file.sha256: file.what for file in self.other_files.values()}
