"""Rerankers: what a system found, in another order. One file each, and one line here."""

from collections.abc import Callable

from runner.registry import Parts
from runner.rerankers.options import RerankOptions
from runner.rerankers.reranker import Candidate, Pool, Reordered, Reranker, Shelf

RERANKERS: Parts[Callable[[RerankOptions], Reranker]] = Parts(
    "reranker",
    {
        "linear": "runner.rerankers.linear.linear:Linear",
        "cross-encoder": "runner.rerankers.cross_encoder:CrossEncoder",
        "flag": "runner.rerankers.flag:Flag",
        "onnx": "runner.rerankers.onnx:Onnx",
        "endpoint": "runner.rerankers.endpoint:Endpoint",
        "llm-list": "runner.rerankers.llm:ListWise",
        "llm-promote": "runner.rerankers.llm:PromoteOne",
    },
)

__all__ = ["RERANKERS", "Candidate", "Pool", "Reordered", "RerankOptions", "Reranker", "Shelf"]
