"""What the tables of a tuning need said."""

from __future__ import annotations

COMPONENTS = """\
What each component adds to the score of every question and lesson for one unit of its weight, over the whole
scope, is what the extension says (`pgmnemo._contributions`), and so is who is whose neighbour, and with what
share; weights are moved offline. Before that, every score and rank at the default is compared with those of
`recall_lessons`, and so are those at four drawings of weights from the grid, for questions evenly spread:"""

IN_SAMPLE = """\
**In-sample**: the questions that a figure is over also chose the weights, or could have. The components and
the grid were chosen by looking at all of these corpora; folds protect the weights alone. A file with items
that are kept for acceptance is refused."""

FIGURES = """\
*Whole scope* ranks every lesson; *as a run recalls* has the default pool of each leg. The default was taken
with all of these questions in view, so of what is held out the rows *from neutral* say most. Of BEAM the
figures are over the pointed questions; the others stand beside. What was tried and dropped, and what the
default gives up, stands in [TRIED.md](TRIED.md)."""

ASCENT = """\
One weight after the other is set to the value of its grid that serves the training questions best, for two
rounds. What is served is the sum of these figures, its aims:"""

SLOPES = """\
The value in bold is the default. How many moves lower none of the aims by more than {near:g} points:"""

ABLATION = """\
Differences to the default in points, paired by question, with 95 % intervals; the other weights stay. An
interval that holds 0 shows no effect on that corpus."""
