#!/usr/bin/python3
"""Shell scripts that shellcheck objects to."""

import re
import subprocess

import tree


def problems(root):
    result = subprocess.run(
        ["shellcheck", "--external-sources", "--format=gcc"]
        + tree.files(root, lambda path: tree.is_shell(root, path)),
        cwd=root,
        capture_output=True,
        text=True,
    )
    found = re.findall(r"^(.+):(\d+):\d+: (.*)$", result.stdout, re.MULTILINE)
    yield from found
    if result.returncode and not found:
        yield "shellcheck", 0, result.stdout + result.stderr


tree.check(problems)
