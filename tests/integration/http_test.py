#!/usr/bin/python3
"""Profiles over HTTP, of a program that uses CPU time and allocates: http_server.c.

They are read by `folio top`, and by `go tool pprof` where Debian's Go is installed.
"""

import concurrent.futures
import gzip
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import harness

GO = pathlib.Path("/usr/bin/go")
FOLIO = harness.BIN / "folio"

CPU = "/debug/pprof/profile"
HEAP = "/debug/pprof/heap"
ALLOCS = "/debug/pprof/allocs"


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()


def ask(address, path, method="GET", **headers):
    connection = http.client.HTTPConnection(address, timeout=harness.PATIENCE)
    try:
        connection.request(method, path, headers=headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def get_request(path, head=""):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode()


def read_to_end(connection):
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=harness.PATIENCE,
                          env={**os.environ, "PPROF_TMPDIR": str(harness.SCRATCH)})


class ServerTest(unittest.TestCase):
    FLAGS = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=harness.SCRATCH, prefix="http-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.start(*self.FLAGS)
        self.address = self.program.address()
        self.heap = any("heap sampling is on" in line for line in self.program.lines)

    def tearDown(self):
        if self.program.process.poll() is None:
            self.program.stop()

    def start(self, *flags):
        program = harness.Program("http_server", *flags)
        self.addCleanup(program.__exit__)
        return program

    def connect(self, data):
        """A plain connection on which these bytes were sent."""
        host, port = self.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), harness.PATIENCE)
        self.addCleanup(connection.close)
        connection.sendall(data)
        return connection

    def need_heap(self):
        if not self.heap:
            self.skipTest("a sanitizer's allocator is in place: no heap profiles")

    def assert_served(self):
        self.assertEqual(ask(self.address, "/debug/pprof/").status, 200)

    def assert_binary(self, answer, name):
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(answer.headers["content-type"], "application/octet-stream")
        self.assertEqual(answer.headers["content-disposition"], f'attachment; filename="{name}"')
        self.assertNotIn("x-go-pprof", answer.headers)
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def assert_error(self, answer, status, text):
        self.assertEqual((answer.status, answer.body.decode()), (status, text + "\n"))
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(answer.headers["content-type"], "text/plain; charset=utf-8")
        self.assertEqual(answer.headers["x-go-pprof"], "1")
        self.assertNotIn("content-disposition", answer.headers)
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def write(self, answer):
        """Checks that the body is gzip, and returns a file of it."""
        self.assertTrue(gzip.decompress(answer.body))
        path = self.folder / f"{len(list(self.folder.iterdir()))}.pb.gz"
        path.write_bytes(answer.body)
        return path

    def read(self, answer, *flags):
        """What `folio top` makes of it; it reads strictly."""
        if not FOLIO.exists():
            self.skipTest("the program folio is not built")
        done = run(FOLIO, "top", "-json", *flags, self.write(answer))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def pprof(self, *arguments):
        if not GO.exists():
            self.skipTest("/usr/bin/go is missing: install the package golang-go")
        done = run(GO, "tool", "pprof", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class ContractTest(ServerTest):
    def test_answers(self):
        self.assert_binary(ask(self.address, f"{CPU}?seconds=1"), "profile")
        self.assert_binary(ask(self.address, f"{CPU}?seconds=1&debug=1"), "profile")
        self.need_heap()
        for path, name in ((HEAP, "heap"), (ALLOCS, "allocs"), (f"{HEAP}?gc=1", "heap"),
                           (f"{HEAP}?debug=0", "heap"), (f"{HEAP}?seconds=", "heap"),
                           (f"{HEAP}?seconds=1", "heap-delta"),
                           (f"{ALLOCS}?seconds=1", "allocs-delta")):
            with self.subTest(path):
                self.assert_binary(ask(self.address, path), name)

    def test_errors(self):
        not_positive = 'invalid value for "seconds" - must be a positive integer'
        too_long = "profile duration exceeds the server's limit of 3600 seconds"
        no_debug = ("debug is not supported: leave it out for the binary profile, which "
                    "`go tool pprof` and `folio top` show as text")
        for path, status, text in (
                ("/debug/pprof/goroutine", 404, "Unknown profile"),
                ("/debug/pprof/goroutine?debug=1", 404, "Unknown profile"),
                ("/favicon.ico", 404, "Unknown profile"),
                ("/debug/pprof/../../etc/passwd", 404, "Unknown profile"),
                (f"{CPU}?seconds=3601", 400, too_long),
                (f"{HEAP}?seconds=3601", 400, too_long),
                (f"{HEAP}?seconds=0", 400, not_positive),
                (f"{HEAP}?seconds=-1", 400, not_positive),
                (f"{ALLOCS}?seconds=1.5", 400, not_positive),
                (f"{ALLOCS}?seconds=x&debug=1", 400, not_positive),
                (f"{HEAP}?seconds=1&debug=1", 400, "seconds and debug params are incompatible"),
                (f"{HEAP}?debug=1", 400, no_debug),
                (f"{ALLOCS}?debug=2", 400, no_debug)):
            with self.subTest(path):
                self.assert_error(ask(self.address, path), status, text)

    def test_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            with self.subTest(method):
                answer = ask(self.address, HEAP, method)
                self.assert_error(answer, 405, "method not allowed: use GET or HEAD")
                self.assertEqual(answer.headers["allow"], "GET, HEAD")
        answer = ask(self.address, CPU, "HEAD")
        self.assert_binary(answer, "profile")
        self.assertEqual(answer.body, b"")
        self.assertEqual(ask(self.address, "/nothing", "HEAD").status, 404)

    def test_index(self):
        answer = ask(self.address, "/debug/pprof/")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertIn(b'<a href="profile">', answer.body)
        self.assertEqual(b'<a href="heap">' in answer.body, self.heap)
        for path in ("/", "/debug/pprof"):
            answer = ask(self.address, path)
            self.assertEqual((answer.status, answer.headers["location"]), (302, "/debug/pprof/"))

    def test_hosts(self):
        for host in ("localhost", "127.0.0.1:1", "[::1]:80", "LOCALHOST"):
            with self.subTest(host):
                self.assertEqual(ask(self.address, "/debug/pprof/", Host=host).status, 200)
        for host in ("evil.example", "evil.example:7789", "localhost.evil.example", "192.0.2.7",
                     "127.0.0.1.evil.example", ""):
            for path in ("/debug/pprof/", f"{CPU}?seconds=1", "/"):
                with self.subTest(host=host, path=path):
                    self.assert_error(
                        ask(self.address, path, Host=host, Origin=f"http://{host}"), 403,
                        "this Host is not served: ask for localhost, 127.0.0.1, [::1] or "
                        "127.0.0.1, or let the profile server listen on the name")


class WithoutHeapTest(ServerTest):
    FLAGS = ("-no_heap",)

    def test_says_how_to_switch_it_on(self):
        for path in (HEAP, ALLOCS, f"{HEAP}?seconds=1", f"{ALLOCS}?seconds=1"):
            with self.subTest(path):
                self.assert_error(ask(self.address, path), 404,
                                  "heap sampling is off: switch it on with leaving out -no_heap")
        self.assertIn(b"leaving out -no_heap", ask(self.address, "/debug/pprof/").body)
        self.assert_binary(ask(self.address, f"{CPU}?seconds=1"), "profile")


class ProfilesTest(ServerTest):
    def test_cpu(self):
        top = self.read(ask(self.address, f"{CPU}?seconds=2"))
        self.assertEqual((top["sample_type"], top["unit"]), ("cpu", "nanoseconds"))
        self.assertGreaterEqual(top["duration_ns"], 2_000_000_000)
        self.assertGreater(top["total"], 0)
        self.assertEqual(top["functions"][0]["name"], "burn_processor_time", top)
        names = {row["name"] for row in top["functions"]}
        self.assertFalse({name for name in names if name.startswith("MHD_")}, names)

    def test_cpu_by_pprof(self):
        raw = self.pprof("-raw", self.write(ask(self.address, f"{CPU}?seconds=1")))
        self.assertIn("samples/count cpu/nanoseconds", raw)
        self.assertRegex(raw, r"Duration: 1(\.\d+)?\n?")
        self.assertIn("burn_processor_time", raw)

    def test_pprof_fetches(self):
        top = self.pprof("-top", "-seconds", "1", f"http://{self.address}{CPU}")
        self.assertIn("burn_processor_time", top)
        self.need_heap()
        top = self.pprof("-top", "-sample_index=alloc_space", f"http://{self.address}{HEAP}")
        self.assertIn("allocate_object", top)

    def test_two_readers_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            began = time.monotonic()
            answers = [pool.submit(ask, self.address, f"{CPU}?seconds={seconds}")
                       for seconds in (3, 2)]
            tops = [self.read(answer.result()) for answer in answers]
            took = time.monotonic() - began
        self.assertGreaterEqual(took, 3)
        for top, seconds in zip(tops, (3, 2)):
            self.assertGreaterEqual(top["duration_ns"], seconds * 1_000_000_000)
            self.assertEqual(top["functions"][0]["name"], "burn_processor_time", top)
        # The longer one has what the shorter one has, and more.
        self.assertGreater(tops[0]["total"], tops[1]["total"])

    def test_heap(self):
        self.need_heap()
        ask(self.address, f"{CPU}?seconds=1")  # until something was allocated
        inuse = self.read(ask(self.address, HEAP), "-sample_type", "inuse_space")
        self.assertEqual(inuse["functions"][0]["name"], "allocate_object", inuse)
        first = self.read(ask(self.address, ALLOCS), "-sample_type", "alloc_space")
        delta = self.read(ask(self.address, f"{ALLOCS}?seconds=1"), "-sample_type", "alloc_space")
        second = self.read(ask(self.address, ALLOCS), "-sample_type", "alloc_space")
        self.assertGreater(delta["total"], 0)
        rounding = 1000  # each profile rounds the estimate of every stack
        self.assertLessEqual(first["total"] + delta["total"], second["total"] + rounding)
        self.assertGreaterEqual(delta["duration_ns"], 1_000_000_000)
        self.assertGreater(second["duration_ns"], delta["duration_ns"])

    def test_the_default_of_allocs_is_alloc_space(self):
        self.need_heap()
        ask(self.address, f"{CPU}?seconds=1")
        raw = self.pprof("-raw", self.write(ask(self.address, ALLOCS)))
        self.assertIn("alloc_space/bytes[dflt]", raw)
        self.assertNotIn("[dflt]", self.pprof("-raw", self.write(ask(self.address, HEAP))))


class StrainTest(ServerTest):
    def process_file(self, name):
        return pathlib.Path(f"/proc/{self.program.process.pid}/{name}")

    def wait_until(self, condition):
        until = time.monotonic() + harness.PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), until)
            self.assert_served()

    def descriptors(self):
        return len(list(self.process_file("fd").iterdir()))

    def test_slow_connections(self):
        idle = self.descriptors()
        slow = [self.connect(b"GET /debug/pprof/ HT") for _ in range(100)]
        began = time.monotonic()
        for _ in range(20):
            self.assert_served()
        self.assertLess(time.monotonic() - began, 30)
        self.assertLessEqual(self.descriptors(), idle + 33)
        self.assert_binary(ask(self.address, f"{CPU}?seconds=1"), "profile")
        for connection in slow:
            connection.close()
        self.wait_until(lambda: self.descriptors() <= idle + 1)

    def test_long_header_and_address(self):
        long = "x" * 100_000
        for request, status in ((get_request("/debug/pprof/", f"X: {long}\r\n"), b" 431 "),
                                (get_request(f"/debug/pprof/?{long}"), b" 414 "),
                                (get_request("/debug/pprof/", "X: y\r\n" * 20000), b" 431 ")):
            try:
                connection = self.connect(request)
                self.assertIn(status, read_to_end(connection)[:40])
            except (ConnectionResetError, BrokenPipeError):
                pass  # it need not read to the end what it refuses
        self.assert_served()

    def test_garbage(self):
        for data in (b"\x00" * 1000, b"\xff" * 1000, b"\r\n" * 1000, b"GET", os.urandom(20000),
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500)):
            try:
                connection = self.connect(data)
                connection.shutdown(socket.SHUT_WR)
                connection.close()
            except (ConnectionResetError, BrokenPipeError, OSError):
                pass
        self.assert_served()

    def test_disconnect_in_the_middle(self):
        self.assert_served()
        idle = self.descriptors()
        for _ in range(10):
            connections = [self.connect(get_request(f"{CPU}?seconds=3600"))
                           for _ in range(10)]
            self.assert_served()
            for connection in connections:
                connection.close()
            self.wait_until(lambda: self.descriptors() <= idle + 1)
        self.assert_binary(ask(self.address, f"{CPU}?seconds=1"), "profile")

    def test_no_thread_a_request(self):
        before = len(list(self.process_file("task").iterdir()))
        for _ in range(16):
            self.connect(get_request(f"{CPU}?seconds=3600"))
        self.wait_until(lambda: ask(self.address, f"{CPU}?seconds=3600").status == 503)
        self.assertEqual(len(list(self.process_file("task").iterdir())), before)

    def test_stop_in_the_middle(self):
        connections = [self.connect(get_request(f"{CPU}?seconds=3600"))
                       for _ in range(10)]
        self.wait_until(lambda: self.descriptors() >= 10)
        began = time.monotonic()
        self.program.stop(signal.SIGTERM)
        self.assertLess(time.monotonic() - began, 60)
        for connection in connections:
            answer = read_to_end(connection)
            self.assertIn(b" 503 ", answer[:40])
            self.assertTrue(answer.endswith(b"no profile: the profile server is stopping\n"))

    def test_busy_port(self):
        second = self.start("-address", self.address)
        self.assertEqual(second.wait_end(), 1)
        self.assertEqual(
            second.lines[-1].split(" ", 2)[2],
            f"cannot listen on {self.address}: Address already in use; stop what uses it or choose "
            "another port (0 picks one)")


class TimeoutTest(ServerTest):
    FLAGS = ("-timeout_ms", "500")

    def test_trickle(self):
        """A byte now and then does not keep a connection."""
        connection = self.connect(b"GET /debug/pprof/ HTTP/1.1\r\nX: ")
        connection.settimeout(0.02)
        began = time.monotonic()
        while time.monotonic() - began < harness.PATIENCE:
            try:
                connection.sendall(b"x")
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                break
        self.assertLess(time.monotonic() - began, 60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
