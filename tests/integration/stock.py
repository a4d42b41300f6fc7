"""A stock Python client, a server for it, and a text whose counts are known.

The text is the real one if SHAKESAPP_CORPUS names it, else the generated one.
"""

import concurrent.futures
import contextlib
import functools
import itertools
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import unittest

import grpc

import harness

METHOD = "/shakesapp.ShakespeareService/GetMatchCount"
KNOWN = {"hello": 349, "world": 728, "to be, or not to be": 1, "insolence": 14}

# A seventh of the text, so that slow versions are not too slow under a sanitizer.
FEW_WORKS = ("hamlet.txt", "kinglear.txt", "macbeth.txt", "othello.txt", "sonnets.txt",
             "tempest.txt")

messages, services = harness.stubs()


@functools.cache
def scratch():
    """A folder that goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="stock-", dir=harness.SCRATCH)


def home():
    return pathlib.Path(scratch().name)


@functools.cache
def text():
    """The folder of all works."""
    if named := os.environ.get("SHAKESAPP_CORPUS"):
        return pathlib.Path(named)
    with harness.Program("shakesapp-server", "-version", "4", "-port", "0",
                         env=harness.environment(home())) as server:
        server.address()  # without -corpus it generates the text
        server.stop()
    return home() / ".cache/shakesapp/stand-in"


@functools.cache
def few_works():
    """The folder of a copy of FEW_WORKS."""
    folder = home() / "few"
    folder.mkdir()
    for name in FEW_WORKS:
        shutil.copy(text() / name, folder)
    return folder


@functools.cache
def few_counts():
    """The four known phrases and the number of lines of FEW_WORKS that hold them."""
    lines = [line.lower() for name in FEW_WORKS
             for line in (text() / name).read_text(encoding="ascii").splitlines()]
    return {phrase: sum(phrase in line for line in lines) for phrase in KNOWN}


class Server(harness.Program):
    """shakesapp-server, on FEW_WORKS unless told otherwise. As a context it is stopped after the
    block, unless that did it, and must end well."""

    def __init__(self, *flags, version=4, folder=None):
        super().__init__("shakesapp-server", "-version", str(version), "-port", "0",
                         "-corpus", folder or few_works(), *flags, env=harness.environment(home()))
        self._ending = False

    def __exit__(self, failure, *unused):
        try:
            if failure is None and not self._ending:
                self.stop()
        finally:
            super().__exit__()

    def stop(self, number=signal.SIGTERM):
        self._ending = True
        super().stop(number)

    def drain(self):
        """Asks it to end and waits until it has begun to."""
        self._ending = True
        self.process.send_signal(signal.SIGTERM)
        self.wait_line("SIGTERM: finishing the calls in progress")

    def cpu_seconds(self):
        """The processor time that it has used."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def match_seconds(self):
        """The processor time that a match takes it."""
        matches = 3
        start = self.cpu_seconds()
        with Client(self.address()) as client:
            for _ in range(matches):
                client.count("hello")
        return (self.cpu_seconds() - start) / matches

    @contextlib.contextmanager
    def working_at_most(self, seconds):
        """The block must take it no more processor time than that."""
        start = self.cpu_seconds()
        yield
        spent = self.cpu_seconds() - start
        if spent > seconds:
            raise AssertionError(f"it worked for {spent} s, which is more than {seconds} s")


class Client:
    """A stock client with a connection of its own, which is open from the start."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
        grpc.channel_ready_future(self.channel).result(harness.PATIENCE)
        self._stub = services.ShakespeareServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.channel.close()

    def start(self, phrase, timeout=harness.PATIENCE, **options):
        """Starts a call."""
        request = messages.ShakespeareRequest(query=phrase)
        return self._stub.GetMatchCount.future(request, timeout=timeout, **options)

    def count(self, phrase):
        return self.start(phrase).result().match_count

    def send(self, request, method=METHOD):
        """Starts a call with bytes that need not be a request."""
        return self.channel.unary_unary(method).future(request, timeout=harness.PATIENCE)

    def settle(self):
        """Waits until the server has all calls that were started before: it answers an unknown
        method at once, though every worker is busy, and in its turn."""
        code = self.send(b"", "/shakesapp.ShakespeareService/Unknown").code()
        if code is not grpc.StatusCode.UNIMPLEMENTED:
            raise AssertionError(code)


class Bystander:
    """Asks phrase after phrase on a connection of its own while the block runs and once after it;
    every answer must be right."""

    def __init__(self, server):
        self._address = server.address()
        self._over = threading.Event()
        self._executor = concurrent.futures.ThreadPoolExecutor(1)

    def __enter__(self):
        self._asking = self._executor.submit(self._ask)
        return self

    def __exit__(self, *unused):
        self._over.set()
        self._executor.shutdown()
        self._asking.result()

    def _ask(self):
        with Client(self._address) as client:
            for phrase, expected in itertools.cycle(few_counts().items()):
                last = self._over.is_set()
                count = client.count(phrase)
                if count != expected:
                    raise AssertionError(f"{phrase!r} was answered {count}, expected {expected}")
                if last:
                    return


class ServerTest(unittest.TestCase):
    def serve(self, *flags, **options):
        """A server and a client of it, until the end of the test."""
        server = self.enterContext(Server(*flags, **options))
        return server, self.enterContext(Client(server.address()))
