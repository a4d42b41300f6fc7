"""A short run of the benchmark `versions` on the generated text: it works and adds up.

The argument is the build folder. No claim is made about time.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = sys.argv.pop(1)
BENCHMARK = Path(__file__).resolve().parent / "versions.py"
LINES = 172948
BYTES = 5283795
FIGURES = {
    "requests_per_second",
    "cpu_seconds",
    "system_seconds",
    "minor_page_faults",
    "allocations",
    "allocated_bytes",
}


class Versions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def run_benchmark(self, *flags):
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "SHAKESAPP_CORPUS": ""}
        return subprocess.run(
            [sys.executable, "-B", BENCHMARK, BUILD, *flags],
            env={**os.environ, **home},
            capture_output=True,
            text=True,
        )

    def test_short_run(self):
        path = self.folder / "results.json"
        result = self.run_benchmark("-rounds=1", "-versions=4,1", "-requests=1", "-json", path)
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        self.assertIn("version 1 to version 4", result.stdout)

        results = json.loads(path.read_text())
        self.assertEqual(results["corpus"]["kind"], "generated stand-in")
        self.assertEqual(
            {version: [one["requests"] for one in ones] for version, ones in results["samples"].items()},
            {"4": [4], "1": [4]},
        )
        self.assertEqual([set(by_key) for by_key in results["figures"].values()], [FIGURES, FIGURES])
        # Those within regcomp() are among them.
        self.assertGreater(results["figures"]["1"]["allocations"]["median"], 10 * LINES)
        self.assertEqual(
            [(ratio["version"], ratio["to_version"]) for ratio in results["ratios"]], [(1, 4)]
        )
        self.assertLess({"cpu", "processors", "kernel", "compiler", "build"}, set(results["machine"]))

    def test_allocations_are_those_of_the_code(self):
        """A copy of each line in all versions; in version 2 the lines themselves as well."""
        result = self.run_benchmark("-rounds=1", "-versions=2,4", "-requests=4", "-json=-")
        self.assertEqual(result.returncode, 0, result.stderr)
        figures = json.loads(result.stdout)["figures"]
        allocations = {version: figures[version]["allocations"]["median"] for version in "24"}
        allocated_bytes = {version: figures[version]["allocated_bytes"]["median"] for version in "24"}
        self.assertAlmostEqual(allocations["4"], LINES, delta=1000)
        self.assertAlmostEqual(allocations["2"], 2 * LINES, delta=2000)
        self.assertAlmostEqual(allocated_bytes["4"], BYTES, delta=BYTES / 10)
        self.assertGreater(allocated_bytes["2"], 3 * BYTES)

    def test_wrong_flags_are_named_in_one_line(self):
        for flag, value in (("-rounds", "0"), ("-versions", "1,1"), ("-requests", "some"), ("-nope", "1")):
            with self.subTest(flag):
                result = self.run_benchmark(flag, value)
                self.assertIn(flag, result.stderr)
                self.assertEqual((result.stderr.count("\n"), result.returncode), (1, 2))

    def test_an_unknown_version_is_a_wrong_flag(self):
        result = self.run_benchmark("-versions", "99")
        self.assertIn('there is no version "99"', result.stderr)
        self.assertEqual(result.returncode, 2)

    def test_what_cannot_be_used_is_a_failure(self):
        for flag in ("-corpus", "-json"):
            with self.subTest(flag):
                result = self.run_benchmark(flag, self.folder / "missing" / "missing")
                self.assertIn("missing/missing", result.stderr)
                self.assertEqual(result.returncode, 1)


unittest.main()
