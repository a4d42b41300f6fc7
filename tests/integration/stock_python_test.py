#!/usr/bin/python3
"""shakesapp-server with the stock Python client: whatever some calls come to, each ends with the
right status, and the others go on."""

import collections
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from grpc import Compression, StatusCode

import harness
import stock

MAX_REQUEST_BYTES = 65536

# What a server that ends makes of a call; the second only when both act at once.
REFUSED = {StatusCode.UNAVAILABLE, StatusCode.CANCELLED}


def query_bytes(query):
    """A ShakespeareRequest with a query that need not be a string."""
    rest, length = len(query), []
    while rest >= 128:
        length.append(rest & 127 | 128)
        rest >>= 7
    return b"\x0a" + bytes([*length, rest]) + query


# A client that is killed in the middle of its calls.
OTHER_CLIENT = """
import sys
import stock
client = stock.Client(sys.argv[1])
calls = [client.start("hello") for _ in range(980)]
client.settle()
print("980 calls are in progress", flush=True)
calls[-1].code()
"""


class StockTest(stock.ServerTest):
    def assert_ends(self, call, code, details="$"):
        self.assertIs(call.code(), code, call.details())
        self.assertRegex(call.details(), details)

    def assert_right(self, call, phrase):
        self.assert_ends(call, StatusCode.OK)
        self.assertEqual(call.result().match_count, stock.few_counts()[phrase], phrase)


class AnswerTest(StockTest):
    def test_known_queries(self):
        for version in (2, 4):
            _, client = self.serve(version=version, folder=stock.text())
            self.assertEqual({phrase: client.count(phrase) for phrase in stock.KNOWN}, stock.KNOWN)

    def test_phrases_beyond_ascii(self):
        counts = {"école": 3, "ÉCOLE": 3, "σίσυφος": 0, "ΣΊΣΥΦΟΣ": 1, "привет, мир": 1,
                  "🎭": 1, "e\u0301cole": 0, "\u2028": 0}
        with tempfile.TemporaryDirectory(dir=harness.SCRATCH) as folder:
            text = "école École\nÉCOLE\nL’École\nΣΊΣΥΦΟΣ\nПривет, мир\n🎭\n"
            (pathlib.Path(folder) / "work.txt").write_text(text, encoding="utf-8")
            _, client = self.serve(folder=folder)
            self.assertEqual({phrase: client.count(phrase) for phrase in counts}, counts)


class RequestTest(StockTest):
    """Requests that are strange, while others are answered."""

    def setUp(self):
        server, self.client = self.serve()
        self.enterContext(stock.Bystander(server))

    def assert_all_end(self, requests, code, details="$"):
        for request in requests:
            with self.subTest(request=request[:20], bytes=len(request)):
                self.assert_ends(self.client.send(request), code, details)

    def test_queries_that_are_refused(self):
        cases = [
            (b"", "the query is empty"),
            (b"x" * 1025, "the query is over 1024 bytes"),
            (b"a\0b", "the query holds a NUL byte"),
            (b"\xff", "the query is not UTF-8"),
            (b"caf\xe9", "the query is not UTF-8"),
            (b"\xc0\xaf", "the query is not UTF-8"),
            (b"\xed\xa0\x80", "the query is not UTF-8"),
            (b"\xe2\x82", "the query is not UTF-8"),
        ]
        for query, details in cases:
            self.assert_all_end([query_bytes(query)], StatusCode.INVALID_ARGUMENT, details)
        self.assert_all_end([b""], StatusCode.INVALID_ARGUMENT, "the query is empty")
        self.assertEqual(self.client.count("x" * 1024), 0)

    def test_messages_over_the_limit(self):
        fits = query_bytes(b"x" * (MAX_REQUEST_BYTES - 4))
        self.assertEqual(len(fits), MAX_REQUEST_BYTES)
        self.assert_all_end([fits], StatusCode.INVALID_ARGUMENT, "the query is over 1024 bytes")
        self.assert_all_end([fits + b"x", b"x" * 1_000_000], StatusCode.RESOURCE_EXHAUSTED,
                            f"larger than max .* {MAX_REQUEST_BYTES}")

    def test_messages_that_are_no_request(self):
        self.assert_all_end(
            [b"\xff\xff\xff", b"\x0a\xff", b"\x0a\x05hell", query_bytes(b"hello") + b"\0", b"\x0b",
             b"\x0a" + b"\xff" * 10, bytes(1000), bytes(range(255, 0, -1))],
            StatusCode.INTERNAL, "is no shakesapp.ShakespeareRequest")

    def test_fields_of_a_later_version_are_skipped(self):
        request = b"\x12\x03abc" + query_bytes(b"hello") + b"\x18\x01"
        self.assert_ends(self.client.send(request), StatusCode.OK)

    def test_any_number_of_messages(self):
        call = self.client.channel.stream_stream(stock.METHOD)
        world, hello = query_bytes(b"world"), query_bytes(b"hello")
        none = call(iter([]), timeout=harness.PATIENCE)
        self.assert_ends(none, StatusCode.UNIMPLEMENTED, "takes one message and none came")
        expected = self.client.send(world).result()
        self.assertEqual(list(call(iter([world]), timeout=harness.PATIENCE)), [expected])
        self.assertEqual(list(call(iter([world, hello]), timeout=harness.PATIENCE)), [expected])

    def test_a_stream_that_is_not_ended(self):
        answered = threading.Event()
        self.addCleanup(answered.set)
        def messages():
            yield query_bytes(b"hello")
            answered.wait(harness.PATIENCE)
        call = self.client.channel.stream_stream(stock.METHOD)
        stream = call(messages(), timeout=harness.PATIENCE)
        self.assertEqual(len(list(stream)), 1)
        self.assert_ends(stream, StatusCode.OK)

    def test_unknown_paths(self):
        for path in ("/shakesapp.ShakespeareService/GetMatchCounts",
                     "/Shakesapp.ShakespeareService/GetMatchCount",
                     "/shakesapp.ShakespeareService/", "/a.B/C", "/", "/" + "x" * 4000):
            with self.subTest(path=path[:50]):
                self.assert_ends(self.client.send(query_bytes(b"hello"), path),
                                 StatusCode.UNIMPLEMENTED, f"there is no method {path[:200]}")

    def test_compressed_requests(self):
        for compression in (Compression.Gzip, Compression.Deflate):
            for phrase in stock.KNOWN:
                self.assert_right(self.client.start(phrase, compression=compression), phrase)
            long = self.client.start("x" * 1024, compression=compression)
            self.assertEqual(long.result().match_count, 0)
            inflating = self.client.start("x" * 10_000_000, compression=compression)
            self.assert_ends(inflating, StatusCode.RESOURCE_EXHAUSTED, "larger than max")


class CrowdTest(StockTest):
    def test_a_thousand_at_once(self):
        server, client = self.serve()
        phrases = list(stock.KNOWN) * 250
        # It is halted until all are on their way.
        server.process.send_signal(signal.SIGSTOP)
        calls = [client.start(phrase) for phrase in phrases]
        server.process.send_signal(signal.SIGCONT)
        for phrase, call in zip(phrases, calls):
            self.assert_right(call, phrase)
        server.stop()
        server.wait_line("stopped after 1000 calls; 0 had to be cancelled$")

    def test_more_than_allowed(self):
        _, client = self.serve("-max_in_flight", "8", version=1)
        phrases = list(stock.KNOWN) * 250
        calls = [client.start(phrase) for phrase in phrases]
        ends = collections.Counter()
        for phrase, call in zip(phrases, calls):
            ends[call.code()] += 1
            if call.code() is StatusCode.OK:
                self.assert_right(call, phrase)
            else:
                self.assert_ends(call, StatusCode.RESOURCE_EXHAUSTED, "8 calls are in progress")
        self.assertGreaterEqual(ends[StatusCode.OK], 8)
        self.assertGreater(ends[StatusCode.RESOURCE_EXHAUSTED], 0)
        self.assert_right(client.start("insolence"), "insolence")


class AbandonedTest(StockTest):
    """Calls that nobody waits for any more, while others are answered."""

    def test_cancelled_at_random_moments(self):
        server, client = self.serve(version=2)
        self.enterContext(stock.Bystander(server))
        draw = random.Random(1599)
        ends = collections.Counter()
        for _ in range(20):
            phrases = draw.choices(list(stock.KNOWN), k=20)
            calls = [client.start(phrase) for phrase in phrases]
            draw.choice(calls).code()  # until then some have ended
            doomed = draw.sample(calls, 10)
            for call in doomed:
                call.cancel()
            for phrase, call in zip(phrases, calls):
                ends[call.code()] += 1
                if call not in doomed or call.code() is not StatusCode.CANCELLED:
                    self.assert_right(call, phrase)
        self.assertGreater(ends[StatusCode.CANCELLED], 30)

    def test_cancelled_calls_give_their_places_back(self):
        server, client = self.serve("-max_in_flight", "1000", version=1)
        match_seconds = server.match_seconds()
        for _ in range(3):
            doomed = [client.start("hello") for _ in range(980)]
            others = [client.start("world") for _ in range(2)]
            client.settle()
            with server.working_at_most(100 * match_seconds):
                for call in doomed:
                    call.cancel()
                for call in others:
                    self.assert_right(call, "world")
            ends = {call.code() for call in doomed}
            self.assertLessEqual(ends, {StatusCode.CANCELLED, StatusCode.OK})

    def test_cancelled_calls_stop_in_mid_match(self):
        server, client = self.serve("-worker_threads", "50", version=1, folder=stock.text())
        match_seconds = server.match_seconds()
        doomed = [client.start("hello") for _ in range(48)]
        others = [client.start("world") for _ in range(2)]
        client.settle()
        with server.working_at_most(12 * match_seconds):
            for call in doomed:
                call.cancel()
            for call in others:
                self.assertEqual(call.result().match_count, stock.KNOWN["world"])

    def test_calls_past_their_deadline_stop(self):
        server, client = self.serve(version=1)
        draw = random.Random(1600)
        doomed, others = [], []
        with server.working_at_most(300 * server.match_seconds()):
            for _ in range(6):
                others.append(client.start("world"))
                doomed += [client.start("hello", timeout=0.001) for _ in range(80)]
                doomed += [client.start("hello", timeout=draw.uniform(0, 0.1)) for _ in range(80)]
            for call in others:
                self.assert_right(call, "world")
        ends = collections.Counter(call.code() for call in doomed)
        self.assertLess(ends.pop(StatusCode.OK, 0), 100)
        self.assertEqual(list(ends), [StatusCode.DEADLINE_EXCEEDED])

    def test_calls_of_a_killed_client_stop(self):
        server, client = self.serve(version=1)
        match_seconds = server.match_seconds()
        with subprocess.Popen(
                [sys.executable, "-B", "-c", OTHER_CLIENT, server.address()], text=True,
                cwd=pathlib.Path(__file__).parent, stdout=subprocess.PIPE) as other:
            self.addCleanup(other.kill)
            self.assertEqual(other.stdout.readline(), "980 calls are in progress\n")
            calls = [client.start("world") for _ in range(6)]
            client.settle()
            other.kill()
        with server.working_at_most(100 * match_seconds):
            for call in calls:
                self.assert_right(call, "world")


class EndTest(StockTest):
    """What SIGTERM means to the calls."""

    def in_progress(self, count, *flags):
        server, client = self.serve(*flags, version=1)
        calls = [client.start("hello") for _ in range(count)]
        client.settle()
        return server, client, calls

    def assert_most_are_cut_off(self, calls):
        ends = collections.Counter(call.code() for call in calls)
        self.assertLess(ends.pop(StatusCode.OK, 0), len(calls) / 4)
        self.assertLessEqual(set(ends), REFUSED)

    def test_calls_in_progress_are_answered_and_later_ones_refused(self):
        server, client, calls = self.in_progress(4, "-drain_timeout", "1h")
        server.drain()
        later = client.start("hello")
        while later.code() is StatusCode.OK:  # it came before the end of admission
            later = client.start("hello")
        self.assertIn(later.code(), REFUSED)
        for call in calls:
            self.assert_right(call, "hello")
        self.assertEqual(server.wait_end(), 0, server.lines)

    def test_calls_that_take_too_long_are_cancelled(self):
        server, _, calls = self.in_progress(400, "-drain_timeout", "1ms")
        server.drain()
        self.assertEqual(server.wait_end(), 0, server.lines)
        self.assert_most_are_cut_off(calls)

    def test_a_second_signal_does_not_wait(self):
        server, _, calls = self.in_progress(400, "-drain_timeout", "1h")
        server.drain()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait_end(), 128 + signal.SIGTERM, server.lines)
        self.assert_most_are_cut_off(calls)


class RemovedWorkTest(StockTest):
    def test_it_is_missed_until_it_is_back(self):
        with tempfile.TemporaryDirectory(dir=harness.SCRATCH) as name:
            folder = pathlib.Path(name)
            shutil.copytree(stock.few_works(), folder, dirs_exist_ok=True)
            _, client = self.serve(version=2, folder=folder)
            self.assert_right(client.start("hello"), "hello")
            (folder / "hamlet.txt").rename(folder / "elsewhere")
            for _ in range(3):
                self.assert_ends(client.start("hello"), StatusCode.UNAVAILABLE, r"\bhamlet\.txt\b")
            (folder / "elsewhere").rename(folder / "hamlet.txt")
            self.assert_right(client.start("hello"), "hello")


if __name__ == "__main__":
    unittest.main(verbosity=2)
