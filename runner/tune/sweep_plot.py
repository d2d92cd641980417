"""A sweep as a plot: each headline figure over the axis of most values, a line for each other choice."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from runner.progress import Progress
from runner.records import Json
from runner.tune.tasks import HEADLINE

PLOT, TITLE = "sweep.svg", "A sweep, no result: "
MOST = 8  # lines


def plot(made: Json, folder: Path, progress: Progress) -> tuple[Path, ...]:
    """Draw it into the folder; nothing where matplotlib is missing, which is said."""
    if find_spec("matplotlib") is None:
        progress.say("no plot: matplotlib is missing; pip install -c constraints.txt -e '.[perf]'")
        return ()
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    axis = max(made["axes"], key=lambda name: len(made["axes"][name]))
    values = made["axes"][axis]
    lines: dict[str, list[Json]] = {}
    for one in made["points"]:
        others = ", ".join(f"{name} {value}" for name, value in one["point"].items() if name != axis)
        lines.setdefault(others, []).append(one)
    with mpl.rc_context({"svg.hashsalt": "pgmnemo", "svg.fonttype": "none", "font.size": 9}):
        figure, panels = pyplot.subplots(1, len(HEADLINE), figsize=(11, 3.4))
        for panel, name in zip(panels, HEADLINE, strict=True):
            for label, members in list(lines.items())[:MOST]:
                middle, low, high = zip(*(one[name] for one in members), strict=True)
                places = range(len(members))
                [drawn] = panel.plot(places, middle, marker="o", label=label or None)
                panel.fill_between(places, low, high, alpha=0.12, color=drawn.get_color(), linewidth=0)
            panel.set_xticks(range(len(values)), values, rotation=45 if len(values) > 8 else 0)
            panel.set_xlabel(axis)
            panel.set_title(name)
        if len(lines) > 1:
            panels[0].legend(fontsize=7)
        figure.suptitle(f"{TITLE}{made['strategy']}, {made['suite']}, n = {made['n']:,}")
        figure.tight_layout()
        figure.savefig(folder / PLOT, metadata={"Date": None})
        pyplot.close(figure)
    return (folder / PLOT,)
