#!/usr/bin/python3
"""Headers that do not compile alone, or not twice.

The second argument is a build folder with compile_commands.json, from which the
include folders are taken.
"""

import shlex
import subprocess
import sys
from pathlib import Path

import tree


def include_flags(build):
    """All -I and -isystem flags of the build."""
    flags = {}
    for entry in tree.compile_commands(build):
        words = shlex.split(entry["command"])
        for word, after in zip(words, words[1:]):
            if word.startswith("-I"):
                flags[word,] = None
            elif word == "-isystem":
                flags[word, after] = None
    return [word for flag in flags for word in flag]


def problems(root):
    flags = include_flags(Path(sys.argv[2]))
    compiler = ["cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for path in tree.files(root, tree.is_header):
        result = subprocess.run(
            [*compiler, *flags, "-fsyntax-only", "-x", "c", "-"],
            input=f'#include "{root / path}"\n' * 2,
            capture_output=True,
            text=True,
        )
        if result.returncode:
            yield path, 1, f"does not compile alone\n{result.stderr}"


tree.check(problems)
