"""The statistics and the text of the benchmarks, against values worked out by hand."""

import unittest

import samples
import tables


class Samples(unittest.TestCase):
    def test_quantiles_lie_between_neighbours(self):
        ordered = [10, 20, 30, 40]
        found = [samples.quantile(reversed(ordered), share) for share in (0, 0.5, 0.9, 1)]
        self.assertEqual(found, [10, 25, 37, 40])
        self.assertEqual(samples.median([7]), 7)

    def test_median_interval_leaves_out_as_many_as_it_may(self):
        # 1 - 2 * (1 + 10) / 1024 of ten samples' medians lie between the second and the ninth.
        self.assertEqual(samples.median_interval(range(10)), (1, 8, 1 - 22 / 1024))

    def test_median_interval_of_few_samples_is_their_range(self):
        self.assertEqual(samples.median_interval([3, 1, 2]), (1, 3, 0.75))
        self.assertEqual(samples.median_interval([5]), (5, 5, 0))

    def test_ratios_are_taken_pair_by_pair(self):
        self.assertEqual(samples.ratios([6, 8], [3, 2]), [2, 4])
        with self.assertRaises(ValueError):
            samples.ratios([1], [1, 2])


class Tables(unittest.TestCase):
    def test_numbers_have_three_digits_that_count(self):
        values = (0, 0.01234, 4.567, 45.67, 456.7, 1234567)
        expected = ["0", "0.0123", "4.57", "45.7", "457", "1,234,567"]
        self.assertEqual([tables.number(value) for value in values], expected)

    def test_a_spread_shows_where_there_is_one(self):
        self.assertEqual(tables.median_and_spread(samples.summary([1e6, 2e6, 3e6]), 1e6), "2.00 (1.20-2.80)")
        self.assertEqual(tables.median_and_spread(samples.summary([2000, 2001])), "2,000")

    def test_columns_are_aligned(self):
        lines = tables.table([["", "b"], ["aaa", "1"]]).splitlines()
        self.assertEqual(lines, ["     b", "------", "aaa  1"])


unittest.main()
