"""What the protocol pins, as immutable records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SuitePins:
    """One registered corpus: its file, the counts that its shape must show, and its canonical embedder.

    `sha256` and `bytes` are of the unpacked file; `data_variable` names the environment variable that
    points at it. All but the sample suite have every field.
    """

    file: str
    what: str
    embedder: str
    granularity: str
    shape: Mapping[str, int]
    sha256: str | None = None
    data_variable: str | None = None
    url: str | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class EmbedderPins:
    """A canonical embedder as the protocol sets it up; it takes no prefixes.

    `revision` is a commit of the hub (two for a pair of encoders), or `sha256:` and the hash of the weights.
    """

    model: str
    revision: str
    dimensions: int
    max_tokens: int
    batch_size: int
    query_prefix: str = ""
    document_prefix: str = ""


@dataclass(frozen=True, slots=True)
class PassagePins:
    """How a segment is cut into passages: windows of at most `turns`, every `step` turns.

    Of a message to an assistant the first `characters` are embedded.
    """

    turns: int
    step: int
    characters: int


@dataclass(frozen=True, slots=True)
class EnginePins:
    """What the extension is given and answers from the version `since` on.

    `passages`: whether a lesson comes with its passages. `components` of the score, in the order in which
    recall_lessons returns them; `<component>_weight` is the setting of each.
    """

    since: str
    passages: bool
    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protocol:
    """Every figure that the runner takes from the protocol; `sha256` is of the bytes of PROTOCOL.md.

    `known_files` maps the sha256 of a corpus file to what the file is; `variance` maps a suite and a
    metric to the acceptable difference between two runs (§6). A protocol before 1.2.0 knows no passages
    and names no engine.
    """

    version: str
    sha256: str
    seed: int
    depth: int
    default_k: int
    timed_k: int
    cutoffs: tuple[int, ...]
    mrr_depth: int
    ndcg_depth: int
    headline: tuple[str, ...]
    width: int
    max_tokens: int
    batch_size: int
    embedders: Mapping[str, EmbedderPins]
    artefacts: tuple[str, ...]
    settings: Mapping[str, str | float]
    suites: Mapping[str, SuitePins]
    known_files: Mapping[str, str]
    variance: Mapping[str, Mapping[str, float]]
    passages: PassagePins | None = None
    engines: Mapping[str, EnginePins] = field(default_factory=dict)
