#!/usr/bin/python3
"""That each check of this folder finds what it is for, and passes what is right."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

GUARDED = "#ifndef A_H\n#define A_H\n{}\n#endif\n"
ARROWS = "| folder | may use |\n|---|---|\n| `app/` | `rpc` |\n| rpc | |\n"


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def write_compile_commands(self, *sources):
        command = "cc -I{0} -c {0}/{1}"
        entries = [
            {"directory": str(self.root), "file": source, "command": command.format(self.root, source)}
            for source in sources
        ]
        self.write("build/compile_commands.json", json.dumps(entries))

    def run_check(self, name, *arguments):
        command = [sys.executable, "-B", HERE / f"{name}.py", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def assert_passes(self, name, *arguments):
        result = self.run_check(name, *arguments)
        self.assertEqual((result.stdout, result.returncode), ("No problem found.\n", 0))

    def assert_finds(self, expected, name, *arguments):
        result = self.run_check(name, *arguments)
        self.assertIn(expected, result.stdout + result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_nothing_to_check_is_a_failure(self):
        for name in ("banned_functions", "formatting", "guards", "length", "links", "marks", "shell"):
            with self.subTest(name):
                self.assert_finds("No file to check", name)

    def test_arrows(self):
        self.write("docs/ARCHITECTURE.md", ARROWS)
        self.write("app/main.c", '#include "rpc/server.h"\n')
        self.write("rpc/include/rpc/server.h", "#include <rpc/rpc.h>\n")
        self.assert_passes("arrows")
        self.write("rpc/server.c", '\n#include "app/flags.h"\n')
        self.assert_finds("rpc/server.c:2: rpc may not use app", "arrows")
        self.write("rpc/server.c", "")
        self.write("other/other.c", "")
        self.assert_finds("other/other.c:1: its folder has no row", "arrows")

    def test_arrows_need_their_table(self):
        self.write("app/main.c", "")
        self.assert_finds("has no table", "arrows")

    def test_banned_functions(self):
        self.write("a.c", '/* strcpy()\n */ const char *s = "atoi"; // gets\nint my_system;\n')
        self.assert_passes("banned_functions")
        self.write("a.c", "/*\n*/\nint n = atoi(s);\n")
        self.assert_finds("a.c:3: atoi is banned", "banned_functions")

    def test_formatting(self):
        shutil.copy(ROOT / ".clang-format", self.root)
        self.write("a.c", "int a;\n")
        self.assert_passes("formatting")
        self.write("a.c", "int a;\nint  b;\n")
        self.assert_finds("a.c:2: not formatted", "formatting")

    def test_guards(self):
        self.write("a.h", GUARDED.format(""))
        self.assert_passes("guards")
        self.write("b.h", GUARDED.format(""))
        self.assert_finds("b.h:1: the guard A_H is that of a.h", "guards")
        self.write("b.h", "int b;\n")
        self.assert_finds("b.h:1: does not begin with a header guard", "guards")
        self.write("b.h", GUARDED.format("").replace("A_H", "_B_H"))
        self.assert_finds("b.h:1: the guard _B_H begins with an underscore", "guards")

    def test_headers_alone(self):
        self.write_compile_commands("a.c")
        self.write("a.h", GUARDED.format('#include "b.h"'))
        self.write("b.h", "extern int b;\n")
        self.assert_passes("headers_alone", self.root / "build")
        self.write("a.h", GUARDED.format("extern size_t a;"))
        self.assert_finds("a.h:1: does not compile alone", "headers_alone", self.root / "build")

    def test_length(self):
        self.write("a.c", "\n" * 800)
        self.assert_passes("length")
        self.write("a.c", "\n" * 801)
        self.assert_finds("a.c:800: 801 lines", "length")

    def test_links(self):
        self.write("docs/A.md", "[a](A.md#top) [b](https://example.org) [c](#c)\n```\n[d](D.md)\n```\n")
        self.assert_passes("links")
        self.write("README.md", "\n[a](A.md)\n")
        self.assert_finds("README.md:2: the link to A.md leads nowhere", "links")

    def test_marks(self):
        self.write("a.c", "int TODOS;\n")
        self.assert_passes("marks")
        self.write("a.c", "\n/* TO" "DO: more */\n")
        self.assert_finds("a.c:2: a TO" "DO mark", "marks")

    def test_shell(self):
        self.write("a", '#!/bin/bash\necho "$1"\n')
        self.assert_passes("shell")
        self.write("a", "#!/bin/bash\necho $1\n")
        self.assert_finds("a:2: note: Double quote", "shell")

    def test_tidy(self):
        shutil.copy(ROOT / ".clang-tidy", self.root)
        self.write_compile_commands("a.c")
        self.write("a.c", "int a(void);\nint a(void) {\n  return 0;\n}\n")
        self.assert_passes("tidy", self.root / "build")
        self.write("a.c", "int a(void);\nint a(void) {\n  int *p = 0;\n  return *p;\n}\n")
        self.assert_finds("a.c:4: Dereference of null pointer", "tidy", self.root / "build")


unittest.main()
