#!/usr/bin/python3
"""C files that clang-format would change."""

import re
import subprocess

import tree


def problems(root):
    result = subprocess.run(
        ["clang-format", "--dry-run", "--Werror", *tree.files(root, tree.is_c)],
        cwd=root,
        capture_output=True,
        text=True,
    )
    found = re.findall(r"^(.+):(\d+):\d+: error: (.*)$", result.stderr, re.MULTILINE)
    for path, number, _ in found:
        yield path, number, "not formatted: run clang-format -i on it"
    if result.returncode and not found:
        yield ".clang-format", 1, result.stderr


tree.check(problems)
