"""One file for each kind of plot: from figures to SVG."""
