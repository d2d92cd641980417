"""The command `tune`: weights of the score by folds, how flat their optimum is, what each component adds."""
