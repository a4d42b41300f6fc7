"""What the checks share: finding files, reading code, reporting.

A check is a script with a function that takes the checkout's folder and yields
(path, line, message) for each problem; check() runs it.
"""

import json
import os
import re
import sys
from pathlib import Path

PASSED_OVER = {".git", "build", "node_modules", "__pycache__", "fixtures"}

COMMENT_OR_LITERAL = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.DOTALL | re.VERBOSE
)


def check(problems):
    """Runs a check on the folder of the first argument: exit status 1 if it finds something."""
    root = Path(sys.argv[1])
    found = [f"{path}:{line}: {message}" for path, line, message in problems(root)]
    print("\n".join(found) or "No problem found.")
    sys.exit(1 if found else 0)


def files(root, wanted):
    """The paths below root, relative and sorted, for which wanted(path) holds; at least one."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in PASSED_OVER]
        paths = [Path(folder, name).relative_to(root) for name in names]
        found += [path for path in paths if wanted(path)]
    if not found:
        sys.exit(f"No file to check below {root}.")
    return sorted(found)


def compile_commands(build):
    """The entries of a build folder's compile_commands.json."""
    database = build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"{database} is missing: configure with a preset of CMakePresets.json")
    return json.loads(database.read_text())


def is_c(path):
    return path.suffix in (".c", ".h")


def is_header(path):
    return path.suffix == ".h"


def is_document(path):
    return path.suffix == ".md"


def is_shell(root, path):
    with open(root / path, "rb") as file:
        return path.suffix == ".sh" or bool(re.match(rb"#!.*\b(ba)?sh\b", file.readline()))


def is_program_text(root, path):
    return path.suffix in (".c", ".h", ".py", ".js", ".cmake") or is_shell(root, path)


def lines(root, path):
    """(number, line) of a file."""
    return enumerate((root / path).read_text(encoding="utf-8").splitlines(), start=1)


def code_lines(root, path):
    """(number, line) of a C file without its comments and literals."""
    text = (root / path).read_text(encoding="utf-8")
    code = COMMENT_OR_LITERAL.sub(lambda match: "\n" * match[0].count("\n"), text)
    return enumerate(code.splitlines(), start=1)
