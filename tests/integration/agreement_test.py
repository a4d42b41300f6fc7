#!/usr/bin/python3
"""All versions of the server agree with a count that another program makes.

GeneratedTextTest and RealTextTest compare with grep -ciF, since those texts are
ASCII, and know four answers; UnicodeTest compares with Go's strings.ToLower.
RealTextTest asks SHAKESAPP_TEST_PHRASES (500) random phrases, the others a fifth.
"""

import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import grpc

import harness

VERSIONS = (1, 2, 3, 4)
REAL_TEXT = os.environ.get("SHAKESAPP_CORPUS")
PHRASES = int(os.environ.get("SHAKESAPP_TEST_PHRASES", "500"))
KNOWN = {"hello": 349, "world": 728, "to be, or not to be": 1, "insolence": 14}
GO = "/usr/bin/go"

IN_FLIGHT = 2
MAX_PHRASE_BYTES = 200
EXPRESSION_CHARACTERS = r".[]{}()*+?^$|\/-"

messages, services = harness.stubs()


def ask(address, phrases):
    """Asks one server for the counts of all phrases."""
    with (grpc.insecure_channel(address) as channel,
          concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as executor):
        stub = services.ShakespeareServiceStub(channel)
        def count(phrase):
            request = messages.ShakespeareRequest(query=phrase)
            return stub.GetMatchCount(request, timeout=harness.PATIENCE).match_count
        return list(executor.map(count, phrases))


def works(folder):
    return sorted(pathlib.Path(folder).glob("*.txt"))


def vary(phrase, draw):
    """The phrase in another case, and at times with a character of regular expressions."""
    phrase = draw.choice([str, str.upper, str.lower, str.swapcase, str.title])(phrase)
    if draw.random() < 0.25:
        at = draw.randint(0, len(phrase))
        phrase = phrase[:at] + draw.choice(EXPRESSION_CHARACTERS) + phrase[at:]
    return phrase


def cut_phrases(lines, count, draw):
    """Random pieces of random lines; one in 20 is longer than a line."""
    phrases = []
    while len(phrases) < count:
        line = draw.choice(lines)
        if draw.random() < 0.05:
            line = " ".join([line, *draw.sample(lines, 4)])
        begin = draw.randrange(len(line) + 1)
        longest = min(len(line) - begin, MAX_PHRASE_BYTES - 1)
        phrase = vary(line[begin : begin + draw.randint(0, longest)], draw)
        if 0 < len(phrase.encode()) <= MAX_PHRASE_BYTES:
            phrases.append(phrase)
    return phrases


def cut_across_lines(lines, count, draw):
    """Phrases that hold a newline."""
    starts = [draw.randrange(len(lines) - 1) for _ in range(count)]
    return [lines[at][-10:] + "\n" + lines[at + 1][:10] for at in starts]


class AgreementTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(dir=harness.SCRATCH)
        self.addCleanup(scratch.cleanup)
        self.home = pathlib.Path(scratch.name)

    def serve(self, version, *flags):
        return harness.Program("shakesapp-server", "-version", str(version), "-port", "0",
                               "-http", "", *flags, env=harness.environment(self.home))

    def assert_versions_count(self, folder, expected):
        """`expected` maps phrases to their counts."""
        self.assertGreater(len(expected), 0)
        for version in VERSIONS:
            with self.subTest(version=version), self.serve(version, "-corpus", folder) as server:
                counts = dict(zip(expected, ask(server.address(), expected)))
                wrong = {phrase: f"{count}, expected {expected[phrase]}"
                         for phrase, count in counts.items() if count != expected[phrase]}
                self.assertEqual(wrong, {})
                server.stop()

    def assert_agrees_with_grep(self, folder, count):
        draw = random.Random(1616)
        text = self.home / "all.txt"
        text.write_bytes(b"".join(work.read_bytes() for work in works(folder)))
        lines = text.read_text(encoding="ascii").splitlines()
        def grep(phrase):
            done = subprocess.run(["grep", "-ciF", "--", phrase, text], text=True, check=False,
                                  env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE)
            self.assertIn(done.returncode, (0, 1))
            return int(done.stdout)
        expected = {phrase: grep(phrase) for phrase in cut_phrases(lines, count, draw)}
        self.assertGreater(sum(found > 0 for found in expected.values()), count / 4)
        expected |= {phrase: 0 for phrase in cut_across_lines(lines, 1 + count // 50, draw)}
        self.assert_versions_count(folder, expected)


class GeneratedTextTest(AgreementTest):
    def setUp(self):
        super().setUp()
        with self.serve(4) as server:  # without -corpus it generates the text
            server.address()
            server.stop()
        self.folder = self.home / ".cache/shakesapp/stand-in"
        self.assertEqual(len(works(self.folder)), 42)

    def test_known_answers(self):
        self.assert_versions_count(self.folder, KNOWN)

    def test_random_phrases(self):
        self.assert_agrees_with_grep(self.folder, 1 + PHRASES // 5)


class RealTextTest(AgreementTest):
    def test_known_answers(self):
        self.assert_versions_count(REAL_TEXT, KNOWN)

    def test_random_phrases(self):
        self.assert_agrees_with_grep(REAL_TEXT, PHRASES)


class UnicodeTest(AgreementTest):
    """Accents, Greek and Cyrillic, bytes that are not UTF-8, CRLF, no final newline."""

    WORDS = ("the The THEE thou hello, World! école ÉCOLE Été naïve Ångström ŒUVRE straße Σίσυφος "
             "ΣΊΣΥΦΟΣ λόγος ΛΌΓΟΣ ἀρχή ἈΡΧΉ Привет МИР мир Ёлка ёлка Ⱥ ⱥ İ ı ǅ ﬁ [a] (b) x* 1.5 \\")
    NOT_UTF8 = (b"\xff", b"caf\xe9", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80",
                b"\xc0\xaf")

    def write_works(self, draw):
        """Writes three works and returns their lines as far as they are UTF-8."""
        lines = []
        for name, newline in (("a.txt", b"\n"), ("b.txt", b"\r\n"), ("c.txt", b"\n")):
            work = []
            for _ in range(500):
                words = [word.encode() for word in draw.choices(self.WORDS.split(), k=8)]
                lines.append(b" ".join(words).decode())
                if draw.random() < 0.2:
                    words.insert(draw.randrange(8), draw.choice(self.NOT_UTF8))
                work.append(b" ".join(words))
            (self.home / name).write_bytes(newline.join(work))
        return lines

    def test_random_phrases(self):
        draw = random.Random(1623)
        phrases = cut_phrases(self.write_works(draw), 1 + PHRASES // 5, draw)
        phrases += ["\r", "école", "ΣΊΣΥΦΟΣ", "ёлка", "i", "ⱥ"]
        done = subprocess.run(
            [GO, "run", pathlib.Path(__file__).with_name("count_lines.go"), *works(self.home)],
            input="".join(phrase + "\0" for phrase in phrases), text=True, encoding="utf-8",
            stdout=subprocess.PIPE, check=True)
        expected = dict(zip(phrases, map(int, done.stdout.split()), strict=True))
        self.assertGreater(sum(found > 0 for found in expected.values()), len(phrases) / 4)
        self.assert_versions_count(self.home, expected)


if __name__ == "__main__":
    if "RealTextTest" in sys.argv and not REAL_TEXT:
        harness.skip("the real text is not there, SHAKESAPP_CORPUS names no folder")
    if "UnicodeTest" in sys.argv and not os.access(GO, os.X_OK):
        harness.skip(f"{GO} is missing: install the package golang-go")
    unittest.main(verbosity=2)
