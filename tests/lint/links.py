#!/usr/bin/python3
"""Relative links of the documents: what they point to exists."""

import re

import tree

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = "```"


def problems(root):
    for path in tree.files(root, tree.is_document):
        fenced = False
        for number, line in tree.lines(root, path):
            fenced ^= line.lstrip().startswith(FENCE)
            for link in [] if fenced else LINK.findall(line):
                target = link.split("#")[0]
                is_elsewhere = re.match(r"[a-z]+:", link)
                if target and not is_elsewhere and not (root / path.parent / target).exists():
                    yield path, number, f"the link to {target} leads nowhere"


tree.check(problems)
