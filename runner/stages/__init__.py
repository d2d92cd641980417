"""Optional stages of a run before and after recall: rewriters of questions, and rerankers of answers."""
