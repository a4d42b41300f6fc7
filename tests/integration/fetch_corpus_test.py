#!/usr/bin/python3
"""scripts/fetch-corpus against a server of this test's own.

Most cases run a copy of the script beside a small table of works. Those of
RealText run it as it is and need the real text in SHAKESAPP_CORPUS.
"""

import fcntl
import functools
import hashlib
import http.server
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77

WORKS = {
    name: random.Random(name).randbytes(size)
    for name, size in (("a.txt", 1000), ("b.txt", 300_000), ("c.txt", 20_000))
}

# What the script uses besides curl.
PROGRAMS = "bash cut dirname flock grep ls mkdir mv readlink rm rmdir sha256sum stat wc".split()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves server.files as server.breaks and server.ranges say, and notes each request."""

    def do_GET(self):
        name = self.path.rpartition("/")[2]
        wanted = self.headers.get("Range")
        self.server.requests.append((name, wanted))
        if name not in self.server.files:
            self.send_error(404)
            return
        body = self.server.files[name]
        first = 0
        if wanted and self.server.ranges:
            first = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        # The first of the breaks that is left: so many bytes, then the connection is dropped.
        breaks = self.server.breaks.get(name)
        self.wfile.write(body[first : first + breaks.pop(0)] if breaks else body[first:])

    def log_message(self, *_):
        pass


class ServerCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.target = self.folder / "data" / "corpus"
        self.part = self.folder / "data" / "corpus.part"

    def serve(self, files):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.files = dict(files)
        self.server.requests = []
        self.server.breaks = {}
        self.server.ranges = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/works/"
        serve = functools.partial(self.server.serve_forever, poll_interval=0.01)
        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def run_script(self, script, *arguments, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **variables}
        return subprocess.run(
            [script, *arguments],
            env={name: value for name, value in environment.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def assert_works(self, folder, works):
        self.assertEqual(sorted(os.listdir(folder)), sorted(works))
        for name, text in works.items():
            self.assertTrue((folder / name).read_bytes() == text, f"{name} has other bytes")


class FetchCase(ServerCase):
    """A copy of the script beside a table of the small works."""

    def setUp(self):
        super().setUp()
        checkout = self.folder / "checkout"
        shutil.copytree(ROOT / "scripts" / "lib", checkout / "scripts" / "lib")
        self.script = shutil.copy(ROOT / "scripts" / "fetch-corpus", checkout / "scripts")
        (checkout / "corpus").mkdir()
        with open(checkout / "corpus" / "works.tsv", "w") as table:
            print("# name\tbytes\tlines\tSHA-256", file=table)
            for name, text in WORKS.items():
                digest = hashlib.sha256(text).hexdigest()
                print(name, len(text), text.count(b"\n"), digest, sep="\t", file=table)
        self.serve(WORKS)

    def fetch(self, *arguments, **variables):
        if not arguments:
            arguments = ("-url", self.url, "-to", str(self.target))
        return self.run_script(self.script, *arguments, **variables)

    def assert_fetched(self, result):
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assert_works(self.target, WORKS)
        self.assertEqual(os.listdir(self.target.parent), ["corpus"])

    def assert_failed(self, result, *parts, status=1):
        self.assertEqual(result.returncode, status, result.stderr)
        message = result.stderr.splitlines()[-1]
        self.assertTrue(message.startswith("fetch-corpus: "), message)
        for part in parts:
            self.assertIn(part, message)

    def assert_nothing_appeared(self):
        self.assertFalse(self.target.exists())


class Fetch(FetchCase):
    def test_fetches_every_work(self):
        self.assert_fetched(self.fetch())
        self.assertEqual(self.server.requests, [(name, None) for name in WORKS])

    def test_second_run_asks_for_nothing(self):
        self.assert_fetched(self.fetch())
        self.server.requests.clear()
        result = self.fetch()
        self.assert_fetched(result)
        self.assertIn("is complete already", result.stderr)
        self.assertEqual(self.server.requests, [])

    def test_resumes_a_broken_transfer_at_once(self):
        self.server.breaks["b.txt"] = [100_000, 50_000]
        self.assert_fetched(self.fetch())
        self.assertEqual(
            [wanted for name, wanted in self.server.requests if name == "b.txt"],
            [None, "bytes=100000-", "bytes=150000-"],
        )

    def test_next_run_resumes_what_was_left(self):
        self.server.breaks["b.txt"] = [100_000, 0]
        self.assert_failed(self.fetch(), "b.txt", "start again to resume")
        self.assert_nothing_appeared()
        self.server.requests.clear()
        self.assert_fetched(self.fetch())
        self.assertEqual(self.server.requests, [("b.txt", "bytes=100000-"), ("c.txt", None)])

    def test_gives_up_on_a_server_that_breaks_off_for_ever(self):
        self.server.breaks["b.txt"] = [1000] * 100
        self.assert_failed(self.fetch(), "b.txt")
        self.assert_nothing_appeared()
        self.assertLess(len(self.server.requests), 10)

    def test_starts_over_where_the_server_cannot_resume(self):
        self.server.ranges = False
        self.server.breaks["b.txt"] = [100_000]
        self.assert_fetched(self.fetch())

    def test_refuses_a_corrupt_byte(self):
        corrupt = bytearray(WORKS["b.txt"])
        corrupt[200_000] ^= 1
        self.server.files["b.txt"] = bytes(corrupt)
        self.assert_failed(self.fetch(), "b.txt", "SHA-256 sum is wrong")
        self.assert_nothing_appeared()
        self.assertEqual(os.listdir(self.part / "works"), ["a.txt"])
        self.server.files["b.txt"] = WORKS["b.txt"]
        self.assert_fetched(self.fetch())

    def test_refuses_a_work_that_is_too_long(self):
        self.server.files["b.txt"] = WORKS["b.txt"] + b"more"
        self.assert_failed(self.fetch(), "b.txt")
        self.assert_nothing_appeared()

    def test_refuses_a_work_that_is_too_short(self):
        self.server.files["b.txt"] = WORKS["b.txt"][:-1]
        self.assert_failed(self.fetch(), "b.txt", "SHA-256 sum is wrong")
        self.assert_nothing_appeared()

    def test_replaces_wrong_left_overs(self):
        (self.part / "works").mkdir(parents=True)
        for name, text in WORKS.items():
            (self.part / "works" / name).write_bytes(bytes(len(text)))
        self.assert_fetched(self.fetch())

    def test_names_the_work_that_is_not_there(self):
        del self.server.files["b.txt"]
        self.assert_failed(self.fetch(), self.url + "b.txt", "404")
        self.assert_nothing_appeared()

    def test_says_that_the_server_is_down(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        result = self.fetch("-url", url, "-to", str(self.target))
        self.assert_failed(result, f"{url}/a.txt", "onnect")
        self.assert_nothing_appeared()

    def test_mends_a_damaged_folder(self):
        self.assert_fetched(self.fetch())
        (self.target / "a.txt").unlink()
        (self.target / "b.txt").write_bytes(b"damaged")
        self.assert_fetched(self.fetch())

    def test_finishes_what_was_killed_while_the_folder_was_replaced(self):
        self.assert_fetched(self.fetch())
        self.part.mkdir()
        self.target.rename(self.part / "works")
        (self.part / "damaged").mkdir()
        (self.part / "damaged" / "a.txt").write_bytes(b"damaged")
        self.server.requests.clear()
        self.assert_fetched(self.fetch())
        self.assertEqual(self.server.requests, [])

    def test_takes_an_empty_folder(self):
        self.target.mkdir(parents=True)
        self.assert_fetched(self.fetch())

    def test_keeps_other_files(self):
        self.target.mkdir(parents=True)
        (self.target / "diary").write_text("dear diary\n")
        self.assert_failed(self.fetch(), str(self.target), "diary")
        self.assertEqual((self.target / "diary").read_text(), "dear diary\n")
        self.assertEqual(self.server.requests, [])

    def test_keeps_a_file_in_the_way(self):
        self.target.parent.mkdir()
        self.target.write_text("a file\n")
        self.assert_failed(self.fetch(), str(self.target), "is in the way")
        self.assertEqual(self.target.read_text(), "a file\n")

    def test_refuses_to_run_beside_another(self):
        self.part.mkdir(parents=True)
        with open(self.part / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_failed(self.fetch(), "another process")
        self.assert_fetched(self.fetch())


class Arguments(FetchCase):
    def test_forms_of_flags(self):
        to = str(self.target)
        for form in (["--url", self.url, "--to", to], [f"-url={self.url}", f"--to={to}/"]):
            self.assert_fetched(self.fetch(*form))
            shutil.rmtree(self.target)

    def test_relative_folder(self):
        os.makedirs(self.target.parent)
        result = subprocess.run(
            [self.script, "-url", self.url, "-to", "corpus"],
            cwd=self.target.parent,
            capture_output=True,
            timeout=60,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_works(self.target, WORKS)

    def test_defaults_from_the_environment(self):
        for data_home, base in (
            (str(self.folder / "xdg"), self.folder / "xdg"),
            ("relative", self.folder / ".local" / "share"),
            (None, self.folder / ".local" / "share"),
        ):
            result = self.run_script(
                self.script, SHAKESAPP_CORPUS_URL=self.url, XDG_DATA_HOME=data_home
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_works(base / "shakesapp" / "corpus", WORKS)

    def test_without_home(self):
        result = self.run_script(self.script, "-url", self.url, HOME=None)
        self.assert_failed(result, "neither HOME nor XDG_DATA_HOME is set", "-to")

    def test_without_curl(self):
        programs = self.folder / "bin"
        programs.mkdir()
        for program in PROGRAMS:
            (programs / program).symlink_to(shutil.which(program))
        result = self.fetch("-to", str(self.target), PATH=str(programs))
        self.assert_failed(result, "install the package curl")
        (programs / "curl").symlink_to(shutil.which("curl"))
        self.assert_fetched(self.fetch(PATH=str(programs)))

    def test_wrong_arguments(self):
        for arguments in (["-x"], ["a.txt"], ["-url"], ["-to="], ["-to", ""]):
            self.assert_failed(self.fetch(*arguments), arguments[0].rstrip("="), status=2)

    def test_help(self):
        result = self.fetch("-help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for flag in ("-url", "-to", "-help"):
            self.assertIn(flag, result.stdout)


CORPUS = os.environ.get("SHAKESAPP_CORPUS")


@unittest.skipUnless(CORPUS, "SHAKESAPP_CORPUS does not name the folder of the real text")
class RealText(ServerCase):
    def test_fetches_the_real_text(self):
        works = {path.name: path.read_bytes() for path in Path(CORPUS).glob("*.txt")}
        self.serve(works)
        result = self.run_script(
            ROOT / "scripts" / "fetch-corpus", "-url", self.url, "-to", str(self.target)
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(works), 42)
        self.assert_works(self.target, works)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if outcome.skipped else 0)
