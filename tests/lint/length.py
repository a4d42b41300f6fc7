#!/usr/bin/python3
"""Files that are too long to be read in one go."""

import tree

MAX_LINES = 800


def problems(root):
    for path in tree.files(root, lambda path: tree.is_program_text(root, path)):
        count = len(list(tree.lines(root, path)))
        if count > MAX_LINES:
            yield path, MAX_LINES, f"{count} lines, more than {MAX_LINES}: split it by purpose"


tree.check(problems)
