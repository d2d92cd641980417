"""Optional stages of a run before and after recall: rewriters of a question, rerankers of its answer."""
