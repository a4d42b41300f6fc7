#!/usr/bin/python3
"""Includes between folders: only those that docs/ARCHITECTURE.md allows."""

import re
import sys

import tree

DOCUMENT = "docs/ARCHITECTURE.md"
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')


def allowed_from_table(text):
    """{folder: folders it may use} from the table with the columns `folder` and `may use`."""
    allowed = {}
    columns = None
    for line in text.splitlines():
        cells = cells_of(line)
        if "folder" in cells and "may use" in cells:
            columns = cells.index("folder"), cells.index("may use")
        elif columns and "|" not in line:
            break
        elif columns and len(cells) > max(columns) and not set(cells[0]) <= set("-: "):
            folder, uses = (re.findall(r"[\w/]+", cells[column]) for column in columns)
            allowed[folder_name(folder[0])] = {folder_name(use) for use in uses}
    return allowed


def cells_of(row):
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


def folder_name(path):
    """`server/match/` is known as `match`, which its headers are included by."""
    return path.strip("/").split("/")[-1]


def folder_of(path, allowed):
    """The innermost folder of the table that holds the file."""
    return next((part for part in reversed(path.parts[:-1]) if part in allowed), None)


def problems(root):
    document = root / DOCUMENT
    allowed = allowed_from_table(document.read_text(encoding="utf-8")) if document.exists() else {}
    if not allowed:
        sys.exit(f"{DOCUMENT} has no table with the columns `folder` and `may use`")
    for path in tree.files(root, lambda path: tree.is_c(path) and path.parts[0] != "tests"):
        folder = folder_of(path, allowed)
        if not folder:
            yield path, 1, f"its folder has no row in the table of {DOCUMENT}"
            continue
        for number, line in tree.lines(root, path):
            include = INCLUDE.match(line)
            used = include and "/" in include[1] and include[1].split("/")[0]
            if used in allowed and used != folder and used not in allowed[folder]:
                yield path, number, f"{folder} may not use {used}: see {DOCUMENT}"


tree.check(problems)
