#!/usr/bin/python3
"""shakesapp-server against peers that break off, hang or speak nonsense: each is answered or
dropped as HTTP/2 and gRPC want it, and stock clients are served all the time."""

import pathlib
import re
import socket
import struct
import time
import unittest

import harness
import stock
from http2 import (ACK, CANCEL, DATA, END_HEADERS, END_STREAM, FRAME_HEAD_BYTES, HEADERS,
                   INITIAL_WINDOW_SIZE, INTERNAL_ERROR, PING, PREFACE, RST_STREAM, SETTINGS,
                   WINDOW_UPDATE, frame, literal, number, setting)

START = PREFACE + frame(SETTINGS, 0, 0)
HELLO = b"\x0a\x05hello"


def headers(stream, flags=END_HEADERS, **changes):
    """The head of a call."""
    fields = {":method": "POST", ":scheme": "http", ":path": stock.METHOD,
              ":authority": "localhost", "te": "trailers", "content-type": "application/grpc",
              **changes}
    block = b"".join(literal(name.encode(), value.encode()) for name, value in fields.items())
    return frame(HEADERS, flags, stream, block)


def message(payload=HELLO, compressed=0):
    return bytes([compressed]) + number(len(payload)) + payload


def data(stream, payload, flags=END_STREAM):
    return frame(DATA, flags, stream, payload)


def call(stream):
    """A whole call."""
    return headers(stream) + data(stream, message())


def peak_kib(server):
    """The most memory that the server ever had."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1])


class Peer:
    """A raw connection to the server, closed after the block."""

    def __init__(self, server, sent=b""):
        host, _, port = server.address().rpartition(":")
        self.socket = socket.create_connection((host, int(port)), harness.PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")
        self.send(sent)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stream.close()
        self.socket.close()

    def send(self, sent):
        self.socket.sendall(sent)

    def reset(self):
        """Closes the connection by a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.__exit__()

    def frames(self):
        """Kind, flags, stream and payload of each frame until the server closes the connection."""
        try:
            while head := self.stream.read(FRAME_HEAD_BYTES):
                payload = self.stream.read(int.from_bytes(head[:3], "big"))
                yield head[3], head[4], int.from_bytes(head[5:], "big"), payload
        except ConnectionResetError:
            pass

    def wait_frame(self, wanted, wanted_flags=0):
        """Waits for such a frame and returns its payload."""
        for kind, flags, _, payload in self.frames():
            if kind == wanted and flags & wanted_flags == wanted_flags:
                return payload
        raise AssertionError("the server closed the connection")

    def settle(self):
        """Waits until the server has read all that was sent."""
        self.send(frame(PING, 0, 0, b"settled?"))
        self.wait_frame(PING, ACK)

    def status(self):
        """Waits for the end of the only call and returns its grpc-status."""
        trailers = self.wait_frame(HEADERS, END_STREAM)
        return int(re.search(rb"grpc-status.(\d+)", trailers)[1])


class HostileTest(stock.ServerTest):
    def connect(self, server, sent):
        return self.enterContext(Peer(server, sent))

    def assert_serves(self, client):
        counts = {phrase: client.count(phrase) for phrase in stock.KNOWN}
        self.assertEqual(counts, stock.few_counts())


class WrongWordsTest(HostileTest):
    def setUp(self):
        self.server, self.client = self.serve()
        self.enterContext(stock.Bystander(self.server))

    def test_calls_end_with_a_status(self):
        cases = {
            "as it should be": (call(1), 0),
            "after a frame of an unknown kind": (frame(0xfa, 0xff, 0, b"x" * 99) + call(1), 0),
            "with two messages": (headers(1) + data(1, message() * 2), 0),
            "without a message": (headers(1, END_HEADERS | END_STREAM), 12),
            "with half a message": (headers(1) + data(1, message()[:8]), 12),
            "to an unknown path": (headers(1, **{":path": "/nothing"}) + data(1, message()), 12),
            "with an empty message": (headers(1) + data(1, message(b"")), 3),
            "with a malformed message": (headers(1) + data(1, message(b"\xff")), 13),
            "with a wrong method": (headers(1, **{":method": "GET"}) + data(1, message()), 2),
        }
        for name, (sent, status) in cases.items():
            with self.subTest(name), Peer(self.server, START + sent) as peer:
                self.assertEqual(peer.status(), status)

    def test_a_message_that_does_not_inflate(self):
        sent = headers(1, **{"grpc-encoding": "gzip"}) + data(1, message(compressed=1))
        with Peer(self.server, START + sent) as peer:
            self.assertEqual(peer.wait_frame(RST_STREAM), number(INTERNAL_ERROR))

    def test_a_call_that_trickles_in(self):
        with Peer(self.server) as peer:
            for byte in START + call(1):
                peer.send(bytes([byte]))
            self.assertEqual(peer.status(), 0)

    def test_connections_that_cannot_go_on_are_closed(self):
        cases = {
            "garbage": b"\x13\x37" * 100,
            "HTTP/1.1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "a TLS client": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32),
            "a header block that is none": START + frame(HEADERS, END_HEADERS, 1, b"\xff" * 6),
            "a frame larger than allowed": START + b"\xff\xff\xff" + bytes([DATA, 0, 0, 0, 0, 1]),
            "a ping of a wrong size": START + frame(PING, 0, 0, b"1234"),
            "a window that grows by nothing": START + frame(WINDOW_UPDATE, 0, 0, number(0)),
        }
        for name, sent in cases.items():
            with self.subTest(name), Peer(self.server, sent) as peer:
                self.assertGreater(len(list(peer.frames())), 0)


class HalfOpenTest(HostileTest):
    BEGINNINGS = (b"", PREFACE[:12], START, START + headers(1),
                  START + headers(1) + data(1, message()[:6], flags=0))

    def test_two_hundred_that_say_no_more(self):
        server, client = self.serve("-drain_timeout", "1s")
        with stock.Bystander(server):
            for sent in self.BEGINNINGS * 40:
                peer = self.connect(server, sent)
                peer.wait_frame(SETTINGS)  # the server speaks first
                if sent.startswith(START):
                    peer.settle()
            self.assert_serves(client)
        server.stop()


class BrokenOffTest(HostileTest):
    def test_connections_that_break_in_mid_call(self):
        server, client = self.serve(version=1)
        match_seconds = server.match_seconds()
        peers = [self.connect(server, START + call(1)) for _ in range(300)]
        for peer in peers:
            peer.settle()
        others = [client.start("world") for _ in range(6)]
        client.settle()
        with server.working_at_most(100 * match_seconds):
            for peer in peers[::2]:
                peer.reset()
            for peer in peers[1::2]:
                peer.socket.shutdown(socket.SHUT_RDWR)
            for other in others:
                self.assertEqual(other.result().match_count, stock.few_counts()["world"])

    def test_calls_that_are_reset_at_once(self):
        server, client = self.serve(version=1)
        with server.working_at_most(300 * server.match_seconds()):
            peer = self.connect(server, START)
            for stream in range(1, 4001, 2):
                peer.send(call(stream) + frame(RST_STREAM, 0, stream, number(CANCEL)))
            peer.settle()
            self.assert_serves(client)

    def test_calls_that_never_go_on(self):
        server, client = self.serve("-drain_timeout", "1s", "-max_in_flight", "8")
        with Peer(server, START) as peer:
            for stream in range(1, 2001, 2):
                peer.send(headers(stream))
            peer.settle()
            self.assert_serves(client)
        self.assert_serves(client)

    # Breaking off makes calls of them: these must not take the places of others either.
    def test_calls_that_break_off_without_a_message(self):
        server, client = self.serve("-max_in_flight", "8")
        for _ in range(20):
            with Peer(server, START) as peer:
                for stream in range(1, 401, 2):
                    peer.send(headers(stream))
                peer.settle()
            self.assert_serves(client)

    def test_a_silent_connection_does_not_delay_the_end(self):
        server, _ = self.serve("-drain_timeout", "1h")
        self.connect(server, START).wait_frame(SETTINGS)
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 10)

    # Its size is known to the core only when all of it is there.
    def test_a_message_of_half_a_gigabyte_is_not_kept(self):
        server, client = self.serve()
        before_kib = peak_kib(server)
        huge = b"\x0a" + b"\x80\x80\x80\xf0\x01" + bytes(480 << 20)
        self.assertEqual(client.send(huge).code().name, "RESOURCE_EXHAUSTED")
        self.assertLess(peak_kib(server) - before_kib, 420 << 10)
        self.assert_serves(client)

    # They hold no place of those in flight, and can be taken later.
    def test_answers_that_are_not_taken(self):
        streams = range(1, 17, 2)
        server, client = self.serve("-max_in_flight", "8")
        answer = message(client.send(HELLO).result())
        peer = self.connect(server, PREFACE + setting(INITIAL_WINDOW_SIZE, 0))
        for stream in streams:
            peer.send(call(stream))
            peer.wait_frame(HEADERS)
        self.assert_serves(client)
        peer.send(setting(INITIAL_WINDOW_SIZE, 65535))
        received = dict.fromkeys(streams, b"")
        ended = set()
        while len(ended) < len(streams):
            kind, flags, stream, payload = next(peer.frames())
            if kind == DATA:
                received[stream] += payload
            if kind == HEADERS and flags & END_STREAM:
                ended.add(stream)
        self.assertEqual(received, dict.fromkeys(streams, answer))


if __name__ == "__main__":
    unittest.main(verbosity=2)
