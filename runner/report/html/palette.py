"""Which colour an arm has: one for each of the first arms, grey for chance, ink for the ceiling."""

from __future__ import annotations

from collections.abc import Sequence

CEILING, RANDOM = "ceiling", "random"
COLOURS = 6  # of arms in assets/plots.css
LAPS = 2  # times that the colours return, each with dashes of its own
COMPONENT_COLOURS = 12


def arm_class(arm: str, arms: Sequence[str]) -> str:
    """The CSS classes of an arm; `arms` are all of a run, in their order. Colours that return are dashed."""
    if arm in (CEILING, RANDOM):
        return f"arm-{arm}"
    lap, colour = divmod([one for one in arms if one != RANDOM].index(arm), COLOURS)
    return f"arm-{colour}" + (f" lap-{min(lap, LAPS)}" if lap else "")


def component_class(place: int) -> str:
    """The CSS class of the component at a place in the run's own order."""
    return f"part-{place % COMPONENT_COLOURS}"
