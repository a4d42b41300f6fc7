#!/usr/bin/python3
"""What clang-tidy objects to, by .clang-tidy.

The second argument is a build folder with compile_commands.json; the sources
that the build generated are passed over.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

PROBLEM = re.compile(r"^(.+):(\d+):\d+: (?:error|warning): (.*)$", re.MULTILINE)


def sources(root, build):
    """What the build compiles, but for what it generated."""
    paths = {Path(entry["directory"], entry["file"]) for entry in tree.compile_commands(build)}
    ours = [path for path in paths if root in path.parents and build not in path.parents]
    return sorted(ours) or sys.exit(f"{build} compiles no file of {root}")


def problems(root):
    build = Path(sys.argv[2])

    def run(source):
        # Assertions tell the analyzer what cannot be.
        command = ["clang-tidy", "-quiet", "-p", build, "--extra-arg=-UNDEBUG", source]
        return source, subprocess.run(command, capture_output=True, text=True)

    seen = set()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for source, result in pool.map(run, sources(root, build)):
            found = PROBLEM.findall(result.stdout)
            for problem in found:
                # A header's problem is found again with each source that includes it.
                if problem not in seen:
                    seen.add(problem)
                    yield problem
            if result.returncode and not found:
                yield source, 0, result.stdout + result.stderr


tree.check(problems)
