"""Numbers and tables as text."""

import math


def number(value):
    """Three digits that count, and all of those before the point: 0.0123, 4.56, 1,234,567."""
    if value == 0:
        return "0"
    digits_after_point = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits_after_point}f}"


def median_and_spread(summary, unit=1):
    """A summary of samples.py in a unit, such as "4.56 (4.50-4.71)": the median, and the 10th and
    90th percentile unless they differ by less than a thousandth."""
    middle, low, high = (summary[key] / unit for key in ("median", "p10", "p90"))
    if high - low <= middle / 1000:
        return number(middle)
    return f"{number(middle)} ({number(low)}-{number(high)})"


def median_interval(summary):
    """Where the true median lies and how surely, such as "4.52-4.60 (98 %)"."""
    low, high, coverage = summary["median_interval"].values()
    return f"{number(low)}-{number(high)} ({100 * coverage:.0f} %)"


def table(rows):
    """Rows of cells as aligned lines, with a rule below the first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], ""])
