#!/usr/bin/python3
"""Functions that overflow, hide errors or start a shell."""

import re

import tree

INSTEAD = {
    "strcpy": "memcpy with a known length, or snprintf",
    "strcat": "snprintf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "gets": "getline",
    "strtok": "strcspn or strchr",
    "atoi": "strtol, with its errors handled",
    "atol": "strtol, with its errors handled",
    "atof": "strtod, with its errors handled",
    "system": "posix_spawn",
    "popen": "pipe and posix_spawn",
}
BANNED = re.compile(r"\b(" + "|".join(INSTEAD) + r")\b")


def problems(root):
    for path in tree.files(root, tree.is_c):
        for number, line in tree.code_lines(root, path):
            for name in BANNED.findall(line):
                yield path, number, f"{name} is banned: use {INSTEAD[name]}"


tree.check(problems)
