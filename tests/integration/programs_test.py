"""Runs shakesapp, shakesapp-server and shakesapp-client as their users do.

The text is the generated stand-in in a folder of the test's own, and for
RealTextTest the real one, which SHAKESAPP_CORPUS names.
"""

import concurrent.futures
import json
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc

import harness

REAL_TEXT = os.environ.get("SHAKESAPP_CORPUS")
KNOWN = {"hello": 349, "world": 728, "to be, or not to be": 1, "insolence": 14}

TIME = r"\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2} "
ROUND_STARTED = TIME + r"Simulating client requests, round (\d+)$"
ROUND_ENDED = (TIME + r"Simulated (\d+) requests in ((?:\d+h)?(?:\d+m)?\d+(?:\.\d{1,2})?s|\d+0ms),"
               r" rate of (\d+\.\d{6}) reqs / sec$")

messages, services = harness.stubs()
home = None


def setUpModule():
    global home
    home = tempfile.TemporaryDirectory(dir=harness.SCRATCH, prefix="programs-")


def tearDownModule():
    home.cleanup()


def environment(**changes):
    return harness.environment(home.name, **changes)


def run(program, *flags, **changes):
    """Runs a program to its end."""
    return subprocess.run([harness.BIN / program, *flags], env=environment(**changes), text=True,
                          capture_output=True, timeout=harness.PATIENCE)


def start(program, *flags):
    """Runs a program in the background."""
    return harness.Program(program, *flags, env=environment())


class FakeServer(services.ShakespeareServiceServicer):
    """A server of our own that answers as `answer(phrase, context)` says, and notes the phrases."""

    def __init__(self, answer):
        self.answer = answer
        self.phrases = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        services.add_ShakespeareServiceServicer_to_server(self, self.server)
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.stop(None).wait()

    def GetMatchCount(self, request, context):
        self.phrases.append(request.query)
        return messages.ShakespeareResponse(match_count=self.answer(request.query, context))


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=home.name)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def assert_status(self, done, status):
        self.assertEqual(done.returncode, status, done.stderr)

    def assert_fails(self, done, pattern):
        """Exit status 1, the pattern in one line of the log, and no round."""
        self.assert_status(done, 1)
        self.assertEqual(len(re.findall(pattern, done.stderr)), 1, done.stderr)
        self.assertNotIn("Simulat", done.stderr)

    def assert_log(self, text):
        """Every line has its time; nothing is meant for a terminal."""
        self.assertTrue(text)
        for line in text.splitlines():
            self.assertRegex(line, "^" + TIME)
        self.assertNotIn("\r", text)

    def assert_rounds(self, log, rounds, requests):
        lines = [line for line in log.splitlines() if "Simulat" in line]
        self.assertEqual(len(lines), 2 * rounds, log)
        for number, (started, ended) in enumerate(zip(lines[::2], lines[1::2]), 1):
            self.assertRegex(started, ROUND_STARTED)
            self.assertRegex(ended, ROUND_ENDED)
            self.assertEqual(re.match(ROUND_STARTED, started).group(1), str(number))
            self.assertEqual(re.match(ROUND_ENDED, ended).group(1), str(requests))


class FlagsTest(ProgramTest):
    PROGRAMS = ("shakesapp", "shakesapp-server", "shakesapp-client")

    def test_help(self):
        for program in self.PROGRAMS:
            for flag in ("-help", "--help"):
                done = run(program, flag)
                self.assert_status(done, 0)
                self.assertTrue(done.stdout.startswith(f"Usage: {program} [flags]\n"), done.stdout)
                self.assertEqual(done.stderr, "")

    def test_help_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([harness.BIN / "shakesapp", "-help"], stdout=full,
                                  timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 1)

    def test_documentation(self):
        sections = "\n".join(run(program, "-help=markdown").stdout for program in self.PROGRAMS)
        document = (harness.SOURCE / "docs/flags.md").read_text()
        start = document.index("## shakesapp\n")
        self.assertEqual(document[start:], sections,
                         "docs/flags.md is out of date: its head tells how to make it")

    def test_wrong_flags(self):
        cases = [
            ("shakesapp", ["-num_rounds", "x"],
             'shakesapp: -num_rounds: "x" is not a whole number of 0 or more '
             "(see shakesapp -help)\n"),
            ("shakesapp", ["-version", "99"],
             'shakesapp: -version: there is no version "99", only 1, 2, 3, 4'),
            ("shakesapp", ["-thread"],
             "shakesapp: -thread: the profiler that it belongs to is not built yet"),
            ("shakesapp-server", ["-port"], "shakesapp-server: -port: its value is missing"),
            ("shakesapp-server", ["-port", "70000"], 'shakesapp-server: -port: "70000" is not'),
            ("shakesapp-server", ["-num_rounds", "1"],
             "shakesapp-server: unknown flag -num_rounds"),
            ("shakesapp-client", ["-duration", "5"], 'shakesapp-client: -duration: "5" is not'),
            ("shakesapp-client", ["stray"], 'shakesapp-client: "stray" is no flag'),
        ]
        for program, flags, message in cases:
            with self.subTest(program=program, flags=flags):
                done = run(program, *flags)
                self.assert_status(done, 2)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertEqual(done.stderr[:len(message)], message)


class TutorialTest(ProgramTest):
    """shakesapp: server and client simulator in one process."""

    def test_rounds_on_the_generated_text(self):
        done = run("shakesapp", "-version", "4", "-num_rounds=3", "--num_requests", "5",
                   "-port", "0", "-http", "")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "")
        self.assert_log(done.stderr)
        self.assert_rounds(done.stderr, rounds=3, requests=5)
        self.assertRegex(done.stderr, r"generated stand-in text: 42 works, 172,948 lines, "
                                      r"5,283,795 bytes in \S+; run scripts/fetch-corpus")
        self.assertIn("version 4 of the server's code: ", done.stderr)
        self.assertRegex(done.stderr, "(?m)" + harness.LISTENING)
        self.assertIn("Total: 15 requests in 3 rounds", done.stderr)
        self.assertIn("Answers: 15, wrong: 0; no errors", done.stderr)
        self.assertRegex(done.stderr, r"Latency: p50 \S+, p90 \S+, p99 \S+, max \S+\n")

    def test_duration_ends_an_endless_run(self):
        done = run("shakesapp", "-version", "4", "-duration", "300ms", "-port", "0")
        self.assert_status(done, 0)
        self.assertRegex(done.stderr, r"Answers: \d+, wrong: 0; no errors")

    def test_json_on_standard_output(self):
        done = run("shakesapp", "-version", "4", "-num_rounds", "2", "-num_requests", "3",
                   "-port", "0", "-json", "-", "-seed", "5", "-concurrency", "2")
        self.assert_status(done, 0)
        first, second, summary = json_lines(done.stdout)
        for number, line in ((1, first), (2, second)):
            self.assertEqual(list(line), ["type", "round", "requests", "seconds", "rate", "wrong",
                                          "errors"])
            self.assertEqual((line["type"], line["round"], line["requests"]), ("round", number, 3))
            self.assertAlmostEqual(line["rate"], 3 / line["seconds"], delta=line["rate"] * 1e-9)
        self.assertEqual(list(summary), [
            "type", "program", "version", "seed", "concurrency", "rounds", "requests", "seconds",
            "rate", "wrong", "errors", "latency_ms", "cpu_seconds", "minor_page_faults", "outcome"])
        for key, value in (("type", "summary"), ("program", "shakesapp"), ("version", 4),
                           ("seed", 5), ("concurrency", 2), ("rounds", 2), ("requests", 6),
                           ("wrong", 0), ("errors", {}), ("outcome", "done")):
            self.assertEqual(summary[key], value, key)
        self.assertEqual(list(summary["latency_ms"]), ["p50", "p90", "p99", "max"])
        self.assertAlmostEqual(summary["seconds"], first["seconds"] + second["seconds"])
        self.assertGreater(summary["cpu_seconds"], 0)

    def test_json_in_a_file(self):
        path = self.folder / "run.json"
        done = run("shakesapp", "-version", "4", "-num_rounds", "1", "-num_requests", "1",
                   "-port", "0", "-json", path)
        self.assert_status(done, 0)
        self.assertEqual([line["type"] for line in json_lines(path.read_text())],
                         ["round", "summary"])

    def test_json_that_cannot_be_written(self):
        path = self.folder / "missing" / "run.json"
        done = run("shakesapp", "-version", "4", "-num_rounds", "1", "-port", "0", "-json", path)
        self.assert_fails(done, f"-json: cannot write {path}: No such file or directory")
        done = run("shakesapp", "-version", "4", "-num_rounds", "1", "-port", "0", "-json",
                   "/dev/full")
        self.assert_status(done, 1)
        self.assertIn("-json: cannot write /dev/full: No space left on device", done.stderr)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            for program in ("shakesapp", "shakesapp-server"):
                self.assert_fails(run(program, "-version", "4", "-port", port),
                                  rf"127\.0\.0\.1:{port}: Address already in use")

    def test_corpus_folder_that_is_missing(self):
        missing = str(self.folder / "missing")
        for program in ("shakesapp", "shakesapp-server"):
            self.assert_fails(run(program, "-port", "0", "-corpus", missing), missing)
            self.assert_fails(run(program, "-port", "0", SHAKESAPP_CORPUS=missing), missing)

    def test_another_text_is_not_checked(self):
        text = self.write("works/one.txt", "Hello\nhello world\n").parent
        done = run("shakesapp", "-num_rounds", "2", "-port", "0", "-corpus", text)
        self.assert_status(done, 0)
        self.assertIn(f"another text: 1 works, 2 lines, 18 bytes in {text}", done.stderr)
        self.assertIn("the counts of the known queries are not checked", done.stderr)

    def test_queries_from_a_file(self):
        text = self.write("works/one.txt", "Hello\nhello world\n").parent
        flags = ("-num_rounds", "1", "-port", "0", "-corpus", text, "-queries")
        right = self.write("right.txt", "# of one.txt\nHELLO\t2\nworld\t1\nit\t-\n")
        done = run("shakesapp", *flags, right)
        self.assert_status(done, 0)
        self.assertNotIn("not checked", done.stderr)
        done = run("shakesapp", *flags, self.write("wrong.txt", "hello\t3\n"))
        self.assert_status(done, 1)
        self.assertIn('"hello" was answered 2, expected 3', done.stderr)
        self.assertIn("wrong: 1; no errors", done.stderr)
        self.assert_fails(run("shakesapp", *flags, self.folder / "missing.txt"), "missing.txt")
        malformed = self.write("malformed.txt", "hello\n")
        self.assert_fails(run("shakesapp", *flags, malformed), "malformed.txt")


@unittest.skipUnless("RealTextTest" in sys.argv, "run by its name only, since it needs the text")
class RealTextTest(ProgramTest):
    def test_every_version(self):
        versions = re.findall(r"(?m)^  (\d+)  ", run("shakesapp", "-help").stdout)
        self.assertGreaterEqual(len(versions), 4)
        for version in versions:
            with self.subTest(version=version):
                done = run("shakesapp", "-version", version, "-num_rounds", "1", "-num_requests",
                           "4", "-concurrency", "2", "-port", "0", SHAKESAPP_CORPUS=REAL_TEXT)
                self.assert_status(done, 0)
                self.assert_rounds(done.stderr, rounds=1, requests=4)
                self.assertIn("the real text: 42 works, 172,948 lines, 5,283,795 bytes in "
                              + REAL_TEXT, done.stderr)


class SignalTest(ProgramTest):
    HELLO_LINES = 20000  # some 30 ms of version 1

    def interrupted(self, number, *flags):
        path = self.folder / "run.json"
        with start("shakesapp", "-version", "4", "-num_requests", "3", "-port", "0", "-json",
                     path, *flags) as app:
            app.wait_line("Simulating client requests, round 2$")
            app.process.send_signal(number)
            status = app.wait_end()
            self.assertTrue(any("Total: " in line for line in app.lines), app.lines)
        self.assertEqual(json_lines(path.read_text())[-1]["outcome"], "stopped")
        return status

    def test_signal_ends_an_endless_run(self):
        self.assertEqual(self.interrupted(signal.SIGINT), 0)
        self.assertEqual(self.interrupted(signal.SIGTERM), 0)

    def test_signal_cuts_a_bounded_run_short(self):
        self.assertEqual(self.interrupted(signal.SIGINT, "-num_rounds", "1000000"), 130)
        self.assertEqual(self.interrupted(signal.SIGTERM, "-duration", "1h"), 143)

    def test_server_ends_with_success(self):
        for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")):
            with start("shakesapp-server", "-version", "4", "-port", "0") as server:
                server.address()
                server.process.send_signal(number)
                self.assertEqual(server.wait_end(), 0)
                server.wait_line(TIME + f"{name}: finishing the calls in progress within 10s")
                server.wait_line(TIME + "stopped after 0 calls; 0 had to be cancelled$")

    def busy_server(self, calls, *flags):
        """A server of version 1 in the middle of some calls, one of which has finished."""
        text = self.write("works/hello.txt", "hello\n" * self.HELLO_LINES).parent
        server = start("shakesapp-server", "-port", "0", "-corpus", text, *flags)
        self.addCleanup(server.__exit__)
        channel = grpc.insecure_channel(server.address())
        self.addCleanup(channel.close)
        ask = services.ShakespeareServiceStub(channel).GetMatchCount
        hello = messages.ShakespeareRequest(query="hello")
        futures = [ask.future(hello, timeout=harness.PATIENCE) for _ in range(calls)]
        one_finished = threading.Event()
        for future in futures:
            future.add_done_callback(lambda _: one_finished.set())
        self.assertTrue(one_finished.wait(harness.PATIENCE))
        return server, futures

    def test_server_finishes_the_calls_in_progress(self):
        server, futures = self.busy_server(4, "-drain_timeout", "1h")
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual([future.result().match_count for future in futures],
                         [self.HELLO_LINES] * 4)
        self.assertEqual(server.wait_end(), 0)
        server.wait_line("stopped after 4 calls; 0 had to be cancelled$")

    def test_server_cancels_what_takes_too_long(self):
        server, futures = self.busy_server(400, "-drain_timeout", "100ms")
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait_end(), 0)
        cancelled = server.wait_line(r"stopped after \d+ calls; (\d+) had to be cancelled$")
        self.assertGreater(int(cancelled.group(1)), 0)
        failures = {future.code() for future in futures} - {grpc.StatusCode.OK}
        self.assertTrue(failures)
        self.assertLessEqual(failures, {grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE})

    def test_second_signal_ends_the_server_at_once(self):
        server, _ = self.busy_server(400, "-drain_timeout", "1h")
        server.process.send_signal(signal.SIGTERM)
        server.wait_line("SIGTERM: finishing the calls in progress within 1h0m0s")
        server.process.send_signal(signal.SIGINT)
        self.assertEqual(server.wait_end(), 130)


class ClientTest(ProgramTest):
    def test_against_the_server(self):
        with start("shakesapp-server", "-version", "4", "-port", "0") as server:
            done = run("shakesapp-client", "-target", server.address(), "-num_rounds", "2",
                       "-json", "-")
            self.assert_status(done, 0)
            self.assert_log(done.stderr)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait_end(), 0)
            server.wait_line("stopped after 40 calls; 0 had to be cancelled$")
            self.assertEqual(server.wait_line(r"(\S+) is listening on ")[1], "shakesapp-server")
        summary = json_lines(done.stdout)[-1]
        self.assertEqual((summary["program"], summary["requests"]), ("shakesapp-client", 40))
        self.assertNotIn("version", summary)

    def test_no_server(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
            target = f"127.0.0.1:{unused.getsockname()[1]}"
            done = run("shakesapp-client", "-target", target, "-num_rounds", "1")
        self.assert_status(done, 1)
        self.assertEqual(len(re.findall(f"{TIME}cannot reach {target}: ", done.stderr)), 1)
        self.assertIn("Answers: 0, wrong: 0; errors: 1 UNAVAILABLE", done.stderr)

    def test_wrong_answer(self):
        with FakeServer(lambda phrase, context: KNOWN[phrase] + 1) as fake:
            done = run("shakesapp-client", "-target", fake.address, "-json", "-")
        self.assert_status(done, 1)
        self.assertEqual(len(re.findall(r"was answered \d+, expected \d+", done.stderr)), 1)
        self.assertIn("Answers: 1, wrong: 1; no errors", done.stderr)
        summary = json_lines(done.stdout)[-1]
        self.assertEqual((summary["wrong"], summary["requests"], summary["outcome"]),
                         (1, 1, "failed"))

    def test_keep_going_counts(self):
        def answer(phrase, context):
            if phrase == "hello":
                context.abort(grpc.StatusCode.UNAVAILABLE, "hamlet.txt cannot be read")
            return KNOWN[phrase] + (phrase == "world")
        with FakeServer(answer) as fake:
            done = run("shakesapp-client", "-target", fake.address, "-num_rounds", "2",
                       "-seed", "1", "-keep_going", "-json", "-")
            refused = fake.phrases.count("hello")
            wrong = fake.phrases.count("world")
        self.assert_status(done, 1)
        self.assertGreater(refused, 0)
        self.assertGreater(wrong, 0)
        summary = json_lines(done.stdout)[-1]
        self.assertEqual((summary["requests"], summary["wrong"], summary["errors"]),
                         (40, wrong, {"UNAVAILABLE": refused}))

    def test_timeout(self):
        over = threading.Event()
        self.addCleanup(over.set)
        def answer(phrase, context):
            over.wait(harness.PATIENCE)
            return KNOWN[phrase]
        with FakeServer(answer) as fake:
            done = run("shakesapp-client", "-target", fake.address, "-timeout", "100ms")
            over.set()
        self.assert_status(done, 1)
        self.assertIn("Answers: 0, wrong: 0; errors: 1 DEADLINE_EXCEEDED", done.stderr)

    def test_signal_does_not_wait_for_a_request_that_hangs(self):
        asked = threading.Event()
        over = threading.Event()
        self.addCleanup(over.set)
        def answer(phrase, context):
            asked.set()
            over.wait(harness.PATIENCE)
            return KNOWN[phrase]
        with FakeServer(answer) as fake:
            with start("shakesapp-client", "-target", fake.address, "-num_rounds", "1") as client:
                self.assertTrue(asked.wait(harness.PATIENCE))
                client.process.send_signal(signal.SIGINT)
                self.assertEqual(client.wait_end(), 130)
            over.set()

    def test_seed_repeats_a_run(self):
        def phrases(*flags):
            with FakeServer(lambda phrase, context: KNOWN[phrase]) as fake:
                done = run("shakesapp-client", "-target", fake.address, "-num_rounds", "2", *flags)
                self.assert_status(done, 0)
                return fake.phrases, re.search(r"-seed (\d+) repeats this run", done.stderr)[1]
        drawn, seed = phrases()
        self.assertEqual(len(drawn), 40)
        self.assertEqual(phrases("-seed", seed), (drawn, seed))
        other, _ = phrases("-seed", str(int(seed) + 1))
        self.assertNotEqual(other, drawn)


class TerminalTest(ProgramTest):
    def test_a_long_round_shows_its_progress(self):
        """Four answers of which each takes a while: the round gets longer than a second."""
        pause = threading.Event()
        def answer(phrase, _context):
            pause.wait(0.4)
            return KNOWN[phrase]
        controller, terminal = pty.openpty()
        with FakeServer(answer) as fake:
            done = subprocess.run(
                [harness.BIN / "shakesapp-client", "-target", fake.address, "-num_rounds", "1",
                 "-num_requests", "4"],
                env=environment(), stderr=terminal, timeout=harness.PATIENCE)
        os.close(terminal)
        with open(controller, "rb", buffering=0) as stream:
            shown = stream.read(65536).decode()
        self.assertEqual(done.returncode, 0, shown)
        self.assertRegex(shown, r"\r\x1b\[K\d of 4 requests in [\d.]+m?s")
        self.assertRegex(shown, r"\r\x1b\[K" + TIME + "Simulated 4 requests in ")


if __name__ == "__main__":
    if "RealTextTest" in sys.argv and not REAL_TEXT:
        harness.skip("the real text is not there, SHAKESAPP_CORPUS names no folder")
    unittest.main(verbosity=2)
