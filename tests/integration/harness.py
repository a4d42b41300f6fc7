"""What the tests share that run the real programs: start one, wait for what it logs, stop it.

SHAKESAPP_BIN names the folder of the programs; what a test generates goes into
SHAKESAPP_SCRATCH.
"""

import importlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

BIN = pathlib.Path(os.environ["SHAKESAPP_BIN"])
SCRATCH = pathlib.Path(os.environ["SHAKESAPP_SCRATCH"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]

PATIENCE = 120  # seconds that nothing here needs, unless it hangs
SKIPPED = 77  # the exit status that CTest takes for it

LISTENING = r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \S+ is listening on (\S+:\d+)$"


class Program:
    """A program in the background. As a context it is killed at the end, if it still runs."""

    def __init__(self, name, *flags, env=None):
        self.lines = []  # of its log, so far
        self._changed = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            [BIN / name, *flags], env=env, text=True, errors="backslashreplace",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.wait_end()

    def _read(self):
        with self.process.stderr:
            for line in self.process.stderr:
                with self._changed:
                    self.lines.append(line.rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait_line(self, pattern):
        """Waits for a line of the log that the pattern is found in, and returns the match."""
        def found():
            return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)
        with self._changed:
            self._changed.wait_for(lambda: found() or self._ended, PATIENCE)
            if not found():
                raise AssertionError(f"no line matches {pattern!r} in {self.lines}")
            return found()

    def address(self):
        """Waits until it listens, and returns host:port."""
        return self.wait_line(LISTENING)[1]

    def wait_end(self):
        """Waits for the end and returns the exit status."""
        status = self.process.wait(PATIENCE)
        self._reader.join()
        return status

    def stop(self, number=signal.SIGTERM):
        """Asks it to end; its exit status must be 0."""
        self.process.send_signal(number)
        status = self.wait_end()
        if status != 0:
            raise AssertionError(f"exit status {status} after {number!r}; its log: {self.lines}")


def environment(home, **changes):
    """This environment, but nothing of the user's: no text, and all files under `home`."""
    env = {name: value for name, value in os.environ.items()
           if name != "SHAKESAPP_CORPUS" and not name.startswith("XDG_")}
    return {**env, "HOME": str(home), **changes}


def stubs():
    """The two modules that protoc makes of shakesapp.proto for a stock Python client."""
    from grpc_tools import protoc  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        status = protoc.main(["protoc", f"--proto_path={SOURCE / 'proto'}",
                              f"--python_out={folder}", f"--grpc_python_out={folder}",
                              "shakesapp.proto"])
        if status != 0:
            raise AssertionError(f"protoc: exit status {status}")
        sys.path.insert(0, folder)
        try:
            return (importlib.import_module("shakesapp_pb2"),
                    importlib.import_module("shakesapp_pb2_grpc"))
        finally:
            sys.path.remove(folder)


def skip(reason):
    """Ends the process so that CTest reports the test as skipped."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)
