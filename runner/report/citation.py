"""The release-note paragraph of protocol §8, and the command that repeats the run."""

from __future__ import annotations

import shlex

from runner.records import ALL
from runner.report.formats import CITED, Figures, Row, count, questions_of, trivial
from runner.runs.config import ALL_SCOPES, BY_TURNS, FULL, OURS
from runner.runs.run import Run

CITABLE = ("verified", "deviation")


def refusal(figures: Figures, run: Run) -> str | None:
    """Return a sentence on why the run may not be cited; None if it may.

    An unverified or blocked run, a corpus that is no evidence (the sample) and a trivial recall@10 are not
    citable (protocol §4.1, §5).
    """
    if run.verdict not in CITABLE:
        return f"Not to be cited: the run is {run.verdict} (protocol §5)."
    if not run.corpus.citable:
        return (
            "Not to be cited: this corpus proves that an installation works; it is no evidence of recall "
            "(protocol §2.3)."
        )
    row = _row(figures, run)
    if row is None or trivial(row):
        return "There is no recall@10 to cite: the scope is too small for it to mean anything."
    return None


def citation(figures: Figures, run: Run, previous: tuple[Figures, Run] | None = None) -> str | None:
    """Return the release-note paragraph of protocol §8, line by line; None if the run may not be cited.

    `previous` is an earlier comparable run; the caller checks comparability. Disclosures follow as lines of
    their own.
    """
    row = _row(figures, run)
    if refusal(figures, run) or row is None:
        return None
    corpus, protocol = run.corpus, run.protocol.version
    of = "" if figures.view == ALL else f" {questions_of(figures.view)}"
    lines = [
        f"Recall measured under pgmnemo Recall Benchmark Protocol v{protocol} (PROTOCOL.md).",
        f"Corpus: {corpus.title}, scope {run.scopes[0].name}, n = {count(row['n'])}{of}. "
        f"Embedder: {run.embedder_name}.",
        f"{_stated(row)} ({_versions(row, run, previous)}).",
        *_more(figures, run),
        f"Verdict: {verdict_words(run)}. Artefacts: {run.path}",
        *(f"Disclosed: {sentence.rstrip('.')}." for sentence in run.disclosures),
    ]
    return "\n".join(lines)


def _more(figures: Figures, run: Run) -> list[str]:
    """Return a line with the other headline metrics; empty without them."""
    rows = [row for row in figures.headline(run) if row["metric"] != CITED and not trivial(row)]
    return [f"{', '.join(map(_stated, rows))}."] if rows else []


def _stated(row: Row) -> str:
    """Return a figure with its interval, such as `recall_any@1 = 0.693 [0.621, 0.757]`."""
    return f"{row['metric']} = {share(row['value'])} [{share(row['ci95_low'])}, {share(row['ci95_high'])}]"


def verdict_words(run: Run) -> str:
    """Return a run's verdict; a deviation is followed by all departures from the protocol."""
    labels = "; ".join(label.rstrip(".") for label in run.deviations)
    return f"deviation: {labels}" if run.verdict == "deviation" else str(run.verdict)


def version(run: Run) -> str:
    """Return the measured system as a citation names it: `v0.2.1`, or another system's name and version."""
    return f"v{run.version}" if run.choice.ours else f"{run.system} {run.version}".strip()


def share(value: float) -> str:
    """Return a mean between 0 and 1 with three decimals, the protocol's format."""
    return f"{value:.3f}"


def _row(figures: Figures, run: Run) -> Row | None:
    return figures.row(run.system, run.scopes[0].name, CITED)


def _versions(row: Row, run: Run, previous: tuple[Figures, Run] | None) -> str:
    before = _row(*previous) if previous else None
    if previous is None or before is None:
        return version(run)
    return f"{version(previous[1])}: {share(before['value'])} → {version(run)}: {share(row['value'])}"


def command(run: Run) -> str:
    """Return the command line that repeats the run."""
    choice, reranker = run.choice, run.reranker
    versioned = OURS in choice.named or any(arm.facts.get("over") == OURS for arm in run.arms)
    told = choice.mode == "vector" or (choice.mode == "keyword" and run.embedder)
    options = [
        ("--data", "" if choice.suite in run.edition.suites else run.corpus.file),  # not registered
        ("--system", "" if choice.system == OURS else choice.system),
        ("--version", f"v{choice.version}" if versioned else ""),
        ("--embedder", run.embedder_name),
        ("--granularity", choice.level),
        ("--template", "" if choice.template == FULL else choice.template),
        ("--passages", "" if choice.passages == BY_TURNS else choice.passages),
        ("--max-chars", choice.max_chars),
        ("--max-tokens", choice.max_tokens),
        ("--baselines", ",".join(choice.baselines)),
        *(("--set", f"{name}={value}") for name, value in choice.settings.items()),
        ("--mode", choice.mode if told else ""),
        ("--k", ",".join(map(str, choice.k))),
        ("--limit", choice.limit),
        ("--types", ",".join(choice.types)),
        ("--split", choice.split),
        ("--scopes", ",".join(choice.scopes)),
        ("--baseline-scopes", choice.baseline_scopes if choice.baseline_scopes != ALL_SCOPES else ""),
        ("--rerank", choice.rerank),
        ("--rerank-depth", reranker.depth if reranker else None),
        ("--rerank-chars", (reranker.characters or None) if reranker else None),
        ("--rewrite", choice.rewrite),
    ]
    given = [word for option, value in options if value not in (None, "") for word in (option, str(value))]
    flags = ["--allow-unregistered-corpus"] if choice.allow_unregistered_corpus else []
    return shlex.join(["python", "-m", "runner", choice.suite, *given, *flags])
