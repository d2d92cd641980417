"""Our own reranker: a weighted sum of what the system said, the words, who speaks and what stands beside."""
