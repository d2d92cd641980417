"""What a run may put before recall and after it: rewriters of a question, rerankers of its answer."""
