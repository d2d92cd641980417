"""How the weights of our own reranker are found: pools of candidates, a convex fit, and figures left out."""
