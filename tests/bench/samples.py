"""Statistics of benchmark samples, which are few and noisy: order statistics, no means.

A noisy machine spoils single samples and drifts over minutes, so that two sides
are compared sample by sample, each with its neighbour in time: ratios().
"""

import math


def quantile(samples, share):
    """The value that a share of the samples lies below, interpolated between neighbours."""
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (above - below) * (place % 1)


def median(samples):
    return quantile(samples, 0.5)


def median_interval(samples, confidence=0.95):
    """(low, high, coverage): the true median lies between these two samples with the
    probability `coverage`, whatever the distribution.

    They stand equally far from both ends, and as close together as `confidence` allows; of
    few samples they are the first and the last, which cover less. Source: how many samples
    lie below the median is binomial (David and Nagaraja, Order Statistics, 7.1).
    """
    ordered = sorted(samples)
    count = len(ordered)

    def coverage(left_out):
        return 1 - 2 * sum(math.comb(count, below) for below in range(left_out + 1)) / 2**count

    left_out = 0
    while coverage(left_out + 1) >= confidence:
        left_out += 1
    return ordered[left_out], ordered[-1 - left_out], coverage(left_out)


def summary(samples):
    """What a report tells of the samples, ready for JSON."""
    low, high, coverage = median_interval(samples)
    return {
        "median": median(samples),
        "p10": quantile(samples, 0.1),
        "p90": quantile(samples, 0.9),
        "min": min(samples),
        "max": max(samples),
        "median_interval": {"low": low, "high": high, "coverage": coverage},
    }


def ratios(numerators, denominators):
    """Pair by pair: the n-th samples of both sides were taken next to each other."""
    return [above / below for above, below in zip(numerators, denominators, strict=True)]
