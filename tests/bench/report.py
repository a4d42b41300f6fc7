"""Where a benchmark tells what it does and what it found."""

import json
import sys


class Report:
    """Tables on standard output, JSON where -json says, progress on a terminal."""

    def __init__(self, json_path):
        self.json_path = json_path
        self.tables = sys.stderr if json_path == "-" else sys.stdout
        if json_path not in (None, "-"):
            self.open_json("a").close()  # now rather than after minutes of measuring

    def open_json(self, mode):
        try:
            return open(self.json_path, mode, encoding="utf-8")
        except OSError as error:
            sys.exit(f"-json: cannot write {self.json_path}: {error.strerror}")

    def progress(self, text=""):
        """Shows a line in the place of the one before."""
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def write(self, text):
        print(text, file=self.tables)

    def write_json(self, results):
        if self.json_path == "-":
            print(json.dumps(results, indent=2))
        elif self.json_path is not None:
            with self.open_json("w") as file:
                print(json.dumps(results, indent=2), file=file)
