"""all-MiniLM-L6-v2 by onnxruntime: the same weights as a graph, which is faster on many processors.

The ONNX backend of sentence-transformers needs optimum-onnx, which does not support transformers 5; so the
graph is exported once, by torch.onnx. The vectors differ from those of `minilm` in their last digits, so the
embedder has another name.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.minilm import (
    DIMENSIONS,
    MODEL,
    WEIGHTS_SHA256,
    absent,
    checked_folder,
    read_tokens,
)
from pgmnemo.embedders.pooled import PooledEncoder
from pgmnemo.errors import os_errors
from pgmnemo.models.hub import file_sha256
from pgmnemo.models.runtime import INPUTS, ONNX, Graph, demand, library, loading, silence
from pgmnemo.models.store import cache_dir
from pgmnemo.progress import Progress

NAME, GRAPH = "minilm-onnx", "model.onnx"
WHO = "the embedder minilm-onnx"


class MiniLMOnnx(PooledEncoder):
    """Embed texts by MiniLM as an ONNX graph: mean pooling, unit length, 384 dimensions.

    `model` is a folder with the weights of the package, which are exported as a graph into the cache, or a
    folder with a `model.onnx` and its tokenizer, such as the hub's; the hash of that graph is then the
    revision.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        super().__init__()
        given = options.folder
        self._given = given if given is not None and (given / GRAPH).is_file() else None
        self._folder = self._given or checked_folder(options)
        self.identity = options.identity(
            NAME,
            MODEL if self._given is None else f"the graph of {self._given.name}",
            self._revision(),
            DIMENSIONS,
            tokens=read_tokens(NAME, options),
            note="mean pooling, normalised, float32, by onnxruntime",
        )

    def _revision(self) -> str:
        """Return the hash of the weights and the version of the exporter, or the hash of a given graph."""
        if self._given is not None:
            return f"onnx sha256:{file_sha256(self._given / GRAPH)}"
        return f"sha256:{WEIGHTS_SHA256}, exported by torch {_version('torch')}"

    def to_download(self) -> int:
        """Return 0, because the model is a package or a folder; raise ModelError if a package is missing."""
        if self._folder is None:
            raise absent(WHO)
        exporting = () if self.place.is_file() else ("onnx", "onnxscript")
        for name in ("onnxruntime", "tokenizers", *exporting):
            demand(name, WHO, ONNX)
        return 0

    @property
    def place(self) -> Path:
        """Return the path of the graph, which may not exist yet; weights and exporter are in its name."""
        if self._given is not None:
            return self._given / GRAPH
        place = cache_dir("onnx", os.environ)
        return place / f"all-MiniLM-L6-v2-{WEIGHTS_SHA256[:12]}-torch{_version('torch')}.onnx"

    def open(self, progress: Progress) -> Graph:
        """Return the graph, which is exported first if it is missing."""
        self.to_download()
        assert self._folder is not None, "a missing package was said"
        if not self.place.is_file():
            progress.say(f"exporting {MODEL} to {self.place}, once: about a minute")
            _export(self._folder, self.place)
        mend = "delete that file, or name another folder"
        return Graph(self.place, self._folder / "tokenizer.json", self.identity.max_tokens, WHO, mend)


def _export(folder: Path, graph: Path) -> None:
    """Write the encoder in `folder` as one ONNX file, atomically."""
    with silence():
        torch, transformers = library("torch", WHO), library("transformers", WHO)
        with loading(folder):
            model = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        ids = torch.tensor([[101, 7592, 2088, 102], [101, 2460, 102, 0]])
        given = (ids, (ids > 0).long(), torch.zeros_like(ids))
        free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
        with os_errors(f"{graph} cannot be written: {{why}}"):
            graph.parent.mkdir(parents=True, exist_ok=True)
            whole = Path(mkdtemp(dir=graph.parent)) / GRAPH
            torch.onnx.export(
                _hidden(torch, model), given, str(whole), dynamo=True, external_data=False, verbose=False,
                input_names=list(INPUTS), output_names=["hidden"], dynamic_shapes=(free, free, free),
            )  # fmt: skip
            os.replace(whole, graph)
            whole.parent.rmdir()


def _hidden(torch: Any, model: Any) -> Any:
    """Return the model as a torch module: its three inputs, in order, to the states of its last layer."""

    def forward(self: Any, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        states = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return states.last_hidden_state

    hidden = type("Hidden", (torch.nn.Module,), {"forward": forward})()
    hidden.model = model
    return hidden


def _version(package: str) -> str:
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return "(none)"
