"""The quantile and the distribution function of Student's t, without SciPy."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, erf, isfinite, log1p, pi, sin, sqrt
from statistics import NormalDist

SERIES_FROM = 100  # above these degrees the expansion's error is below 1e-9


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: int) -> float:
    """Return the `probability` quantile of Student's t with `freedom` whole degrees of freedom.

    Up to 100 degrees by bisection on the closed form of the distribution function (Abramowitz & Stegun 26.7.3
    and 26.7.4), above by the expansion in 1/freedom (26.7.5). Raises ValueError outside 0 < probability < 1
    and freedom ≥ 1.
    """
    if not (isfinite(probability) and 0 < probability < 1) or freedom < 1:
        raise ValueError(f"no t quantile for probability {probability} and {freedom} degrees of freedom")
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    return _expand(probability, freedom) if freedom > SERIES_FROM else _bisect(probability, freedom)


def t_central(t: float, freedom: int) -> float:
    """Return P(|T| < t) for t ≥ 0. Raises ValueError outside t ≥ 0 and freedom ≥ 1.

    Above 100 degrees by the normal distribution at Wallace's (1959) deviate, with an error below 2e-5.
    """
    if not t >= 0 or freedom < 1:
        raise ValueError(f"no probability for t = {t} and {freedom} degrees of freedom")
    if freedom <= SERIES_FROM:
        return _central(t, freedom)
    deviate = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom))
    return erf(deviate / sqrt(2))


def _bisect(probability: float, freedom: int) -> float:
    low, high = 0.0, 1.0
    while _central(high, freedom) < 2 * probability - 1:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if _central(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return high


def _central(t: float, freedom: int) -> float:
    """Return P(|T| < t): a finite sum of positive terms in the angle atan(t / √freedom)."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2 == 1
    term = total = cos(angle) if odd else 1.0
    if freedom == 1:
        total = 0.0
    for i in range(3 if odd else 2, freedom - 1, 2):
        term *= cos(angle) ** 2 * (i - 1) / i
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _expand(probability: float, freedom: int) -> float:
    x = NormalDist().inv_cdf(probability)
    g1 = (x**3 + x) / 4
    g2 = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    g3 = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    g4 = (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160
    return float(x + g1 / freedom + g2 / freedom**2 + g3 / freedom**3 + g4 / freedom**4)
