"""What a benchmark ran on: what its figures depend on, and nothing that names the machine."""

import os
import platform
import subprocess
from pathlib import Path


def describe(build):
    """Machine and build, ready for JSON."""
    cache = cmake_cache(build)
    build_type = cache["CMAKE_BUILD_TYPE"]
    return {
        "cpu": cpu_model(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        "compiler": first_line_of(cache["CMAKE_C_COMPILER"], "--version"),
        "build": f"{build_type} {cache[f'CMAKE_C_FLAGS_{build_type.upper()}']}",
        "load_average": os.getloadavg()[0],
    }


def sentence(machine):
    return "{cpu}, {processors} processors, {kernel}, load {load_average:.1f}; {compiler}, {build}".format(
        **machine
    )


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def first_line_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def cmake_cache(build):
    """{variable: value} of a build folder."""
    lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    entries = [line.partition("=") for line in lines if line[:1].isalpha()]
    return {name.split(":")[0]: value for name, _, value in entries}
