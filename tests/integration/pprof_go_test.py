"""What `go tool pprof` makes of profiles that the builder wrote, with each Go that is there.

make_profile writes them. `folio top` must give the same numbers, and refuse
the files that pprof refuses.
"""

import functools
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["SHAKESAPP_BIN"])
SCRATCH = pathlib.Path(os.environ["SHAKESAPP_SCRATCH"])

PATIENCE = 240  # seconds; a newer Go builds its pprof at the first use
SKIPPED = 77  # the exit status that CTest takes for it

PLACES = ["/usr/bin", "/usr/local/go/bin", "/usr/lib/go/bin"]

TYPES = {"cpu": ["samples", "cpu"],
         "heap": ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]}
UNITS = {"samples": "count", "cpu": "ns", "alloc_objects": "count", "alloc_space": "B",
         "inuse_objects": "count", "inuse_space": "B"}

# 4.40s  8.63%  8.63%     30.57s 59.98%  name (inline)
ROW = re.compile(r"^ *(-?\d+)\w* +[\d.]+% +[\d.]+% +(-?\d+)\w* +[\d.]+%  (.*?)"
                 r"(?: \((?:partial-)?inline\))?$")

# What -raw shows of the heap profile.
RAW = [
    r"PeriodType: space bytes\nPeriod: 524288\n",
    r"Duration: 10",
    r"alloc_objects/count alloc_space/bytes\[dflt\] inuse_objects/count inuse_space/bytes\n",
    r"method:\[GetMatchCount\]",
    r"query:\[to be, or not to be\]",
    r"bytes:\[\d+ bytes\]",
    r"folio: nothing was lost",
    r"1: 0x400000/0x500000/0x1000 /opt/test/program "
    r"00112233445566778899aabbccddeeff \[FN\]\[FL\]\[LN\]\[IN\]",
    r"ns::Type<int>::method_1\(char const\*\) /src/odd.cc:11",
    r"größe_2 /src/even.c:12",
]

folder = None


def gos():
    """Each Go once, whatever links lead to it: Debian's, and those in PATH."""
    folders = os.environ["PATH"].split(":") + PLACES
    found = {os.path.realpath(path) for path in (os.path.join(place, "go") for place in folders)
             if os.access(path, os.X_OK)}
    return sorted(found)


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory(dir=SCRATCH, prefix="pprof-go-")
    for kind in ("cpu", "heap", "large", "empty"):
        subprocess.run([BIN / "make_profile", kind, file(kind)], check=True, timeout=PATIENCE)


def tearDownModule():
    folder.cleanup()


def file(name):
    return os.path.join(folder.name, f"{name}.pb.gz")


def put(name, content):
    pathlib.Path(file(name)).write_bytes(content)
    return file(name)


def environment():
    return {"HOME": folder.name, "PATH": os.environ["PATH"], "GOTOOLCHAIN": "local", "GOFLAGS": "",
            "GOPROXY": "off", "GOCACHE": str(SCRATCH / "pprof-go-cache"), "GO111MODULE": "off",
            "PPROF_TMPDIR": folder.name, "LC_ALL": "C.UTF-8"}


@functools.cache
def pprofs():
    """The pprof of each Go: a newer one builds it at the first use, and takes long to find it."""
    return {go: subprocess.run([go, "tool", "-n", "pprof"], env=environment(), text=True,
                               check=True, capture_output=True, timeout=PATIENCE).stdout.strip()
            for go in gos()}


def run(pprof, *arguments):
    """Runs a pprof, which gives no names of its own to addresses."""
    return subprocess.run([pprof, "-symbolize=none", *arguments], env=environment(), text=True,
                          capture_output=True, timeout=PATIENCE, cwd=folder.name)


def folio(*arguments):
    return subprocess.run([BIN / "folio", "top", *arguments], text=True, capture_output=True,
                          timeout=PATIENCE)


class GoTest(unittest.TestCase):
    def assert_same_top(self, pprof, kind, sample_type):
        result = run(pprof, "-top", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0",
                     f"-unit={UNITS[sample_type]}", f"-sample_index={sample_type}", file(kind))
        self.assertEqual(result.returncode, 0, result.stderr)
        theirs = {}
        for line in result.stdout.partition("cum%\n")[2].splitlines():
            row = ROW.match(line)
            self.assertTrue(row, line)
            theirs[row[3]] = (int(row[1]), int(row[2]))
        ours = folio("-json", "-n", "0", "-sample_type", sample_type, file(kind))
        self.assertEqual(ours.returncode, 0, ours.stderr)
        report = json.loads(ours.stdout)
        rows = {row["name"]: (row["flat"], row["cum"]) for row in report["functions"]}
        self.assertGreater(len(rows), 50)
        self.assertEqual(rows, theirs)
        self.assertEqual(report["total"], sum(flat for flat, _ in theirs.values()))

    def test_top_has_the_same_numbers(self):
        cases = [(kind, name) for kind, names in TYPES.items() for name in names]
        for go, pprof in pprofs().items():
            for kind, sample_type in [*cases, ("large", "cpu")]:
                with self.subTest(go=go, kind=kind, sample_type=sample_type):
                    self.assert_same_top(pprof, kind, sample_type)

    def test_default_sample_types(self):
        for go, pprof in pprofs().items():
            for kind, expected in {"cpu": "cpu", "heap": "alloc_space"}.items():
                with self.subTest(go=go, kind=kind):
                    self.assertIn(f"Type: {expected}\n", run(pprof, "-top", file(kind)).stdout)
                    ours = json.loads(folio("-json", file(kind)).stdout)
                    self.assertEqual(ours["sample_type"], expected)

    def test_raw_shows_what_was_written(self):
        for go, pprof in pprofs().items():
            with self.subTest(go=go):
                raw = run(pprof, "-raw", file("heap"))
                self.assertEqual(raw.returncode, 0, raw.stderr)
                for pattern in RAW:
                    self.assertTrue(re.search(pattern, raw.stdout), pattern)
                # pprof adds up samples with the same stack and labels.
                samples = raw.stdout.partition("Samples:\n")[2].partition("Locations\n")[0]
                stacks = re.findall(r"^ +\d+ +\d+ +\d+ +\d+:", samples, re.MULTILINE)
                self.assertGreater(len(stacks), 450)

    def test_nothing_recorded(self):
        for go, pprof in pprofs().items():
            with self.subTest(go=go):
                shown = run(pprof, "-top", file("empty"))
                self.assertEqual(shown.returncode, 0, shown.stderr)
                self.assertIn("Total samples = 0", shown.stdout)
        self.assertEqual(folio(file("empty")).returncode, 0)

    def test_both_refuse_what_is_no_profile(self):
        good = pathlib.Path(file("cpu")).read_bytes()
        message = gzip.decompress(good)
        bad = {
            "nothing": b"",
            "html": b"<html><body>404 page not found</body></html>",
            "truncated": good[:len(good) // 2],
            "without_end": good[:-4],
            "damaged": good[:-8] + bytes([good[-8] ^ 1]) + good[-7:],
            "garbage_behind": good + b"garbage",
            "concatenated": good + good,
            "cut_message": gzip.compress(message[:len(message) * 2 // 3]),
            "twice": gzip.compress(message + message),
        }
        for name, content in bad.items():
            path = put(name, content)
            with self.subTest(file=name):
                ours = folio(path)
                self.assertEqual(ours.returncode, 1, ours.stdout)
                self.assertEqual(ours.stdout, "")
                self.assertRegex(ours.stderr, f"^folio top: {re.escape(path)}: .+\n$")
            for go, pprof in pprofs().items():
                with self.subTest(go=go, file=name):
                    self.assertNotEqual(run(pprof, "-top", path).returncode, 0)

    def test_files_that_pprof_writes(self):
        """Our profile, read and written by pprof, is the same to us."""
        for go, pprof in pprofs().items():
            path = file("by_go")
            again = run(pprof, "-proto", f"-output={path}", file("heap"))
            self.assertEqual(again.returncode, 0, again.stderr)
            for sample_type in TYPES["heap"]:
                with self.subTest(go=go, sample_type=sample_type):
                    theirs, ours = (
                        json.loads(folio("-json", "-n", "0", "-sample_type", sample_type,
                                         name).stdout) for name in (path, file("heap")))
                    self.assertEqual(theirs["functions"], ours["functions"])
                    self.assertEqual(theirs["total"], ours["total"])


if __name__ == "__main__":
    if not gos():
        print("skipped: there is no go: install the package golang-go")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
