"""The training of the linear reranker: pools of candidates, a convex fit, and cross-validated figures."""
