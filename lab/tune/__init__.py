"""The command `tune`: weights of the score by folds, their flatness, and each component's effect."""
