#!/usr/bin/python3
"""Marks of unfinished work: it belongs in the issue tracker."""

import re

import tree

# In two pieces, so that this file has none.
MARK = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


def problems(root):
    for path in tree.files(
        root, lambda path: tree.is_document(path) or tree.is_program_text(root, path)
    ):
        for number, line in tree.lines(root, path):
            for mark in MARK.findall(line):
                yield path, number, f"a {mark} mark: do it, or file an issue"


tree.check(problems)
