"""Each figure held against the rows of the artefacts that it can be of."""
