#!/usr/bin/python3
"""Header guards: there, of their own, and not of the reserved names."""

import re

import tree

GUARD = re.compile(r"\s*#ifndef (\w+)\n#define \1\b")


def problems(root):
    owners = {}
    for path in tree.files(root, tree.is_header):
        match = GUARD.match((root / path).read_text(encoding="utf-8"))
        if not match:
            yield path, 1, "does not begin with a header guard"
            continue
        guard = match[1]
        if guard.startswith("_"):
            yield path, 1, f"the guard {guard} begins with an underscore: such names are reserved"
        if guard in owners:
            yield path, 1, f"the guard {guard} is that of {owners[guard]}"
        owners[guard] = path


tree.check(problems)
