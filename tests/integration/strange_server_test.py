#!/usr/bin/python3
"""The client against peers that are no shakesapp-server: one clear line and exit status 1."""

import http.server
import os
import socket
import subprocess
import threading
import unittest

CLIENT = os.path.join(os.environ["SHAKESAPP_BIN"], "shakesapp-client")

HEADERS, SETTINGS, PING = 1, 4, 6
ACK, END_STREAM, END_HEADERS = 1, 1, 4


def frame(kind, flags, stream, payload=b""):
    """One HTTP/2 frame (RFC 9113, section 4.1)."""
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def literal(name, value):
    """A header field without indexing (RFC 7541, section 6.2.2), lengths under 127."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Connection:
    """Speaks just enough HTTP/2 to answer every request with one grpc-status."""

    def __init__(self, peer, status):
        self.peer, self.status, self.buffer = peer, status, b""

    def read(self, count):
        while len(self.buffer) < count:
            data = self.peer.recv(65536)
            if not data:
                raise EOFError
            self.buffer += data
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def serve(self):
        self.peer.sendall(frame(SETTINGS, 0, 0))
        self.read(24)  # the client's preface
        while True:
            head = self.read(9)
            payload = self.read(int.from_bytes(head[:3], "big"))
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big")
            if kind in (SETTINGS, PING) and not flags & ACK:
                self.peer.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
            if kind in (0, HEADERS) and flags & END_STREAM:
                fields = (b"\x88" + literal(b"content-type", b"application/grpc")
                          + literal(b"grpc-status", self.status)
                          + literal(b"grpc-message", b"strange"))
                self.peer.sendall(frame(HEADERS, END_STREAM | END_HEADERS, stream, fields))


class StrangeServers(unittest.TestCase):
    def listen(self, serve):
        """Serves each connection with `serve`, on a free port, until the test ends."""
        listener = socket.create_server(("127.0.0.1", 0))

        def accept():
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=self.quietly, args=(serve, peer), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        self.addCleanup(listener.close)
        return listener.getsockname()[1]

    @staticmethod
    def quietly(serve, peer):
        with peer:
            try:
                serve(peer)
            except (EOFError, OSError):
                pass

    def client(self, port, *flags):
        run = subprocess.run(
            [CLIENT, "-target", f"127.0.0.1:{port}", "-num_rounds", "1", *flags],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        return run.stderr

    def test_a_status_that_is_no_code_is_unknown(self):
        for status in (b"2000000000", b"-5", b"99", b"17"):
            port = self.listen(lambda peer, status=status: Connection(peer, status).serve())
            self.assertIn("UNKNOWN", self.client(port))

    def test_a_status_that_is_a_code_is_named(self):
        port = self.listen(lambda peer: Connection(peer, b"16").serve())
        self.assertIn("UNAUTHENTICATED", self.client(port))

    def test_a_web_server(self):
        with http.server.HTTPServer(("127.0.0.1", 0),
                                    http.server.BaseHTTPRequestHandler) as server:
            server.RequestHandlerClass.log_message = lambda *_: None
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.assertIn(f"127.0.0.1:{server.server_port}",
                          self.client(server.server_port, "-timeout", "5s"))
            server.shutdown()

    def test_a_port_that_closes_at_once(self):
        port = self.listen(lambda peer: None)
        self.assertIn(f"127.0.0.1:{port}", self.client(port, "-timeout", "5s"))

    def test_a_port_that_says_nothing(self):
        port = self.listen(lambda peer: peer.recv(1 << 20) and threading.Event().wait(30))
        self.assertIn("DEADLINE_EXCEEDED", self.client(port, "-timeout", "300ms"))


if __name__ == "__main__":
    unittest.main()
