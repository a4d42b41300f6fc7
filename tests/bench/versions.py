"""Compares versions of the server's code: what a request costs in each.

The first argument is the build folder, the others are flags; scripts/bench gives both.
"""

import datetime
import itertools
import json
import subprocess
import sys
from pathlib import Path

import machine
import samples
import tables
from flags import Flags, distinct_numbers, positive_number
from report import Report

DESCRIPTION = """\
Compares versions of the server's code: requests a second with one in flight,
and what a request costs.

Server and client run in one process, as in shakesapp, a fresh one for each
sample; CPU, allocations and page faults are those of the whole process. The
versions take turns and are compared pair by pair within a round, since a
machine is seldom quiet: the ratios are the result.
"""

# A sample takes two or three seconds.
REQUESTS = {1: 8, 2: 60, 3: 60}
REQUESTS_OF_OTHERS = 400

# What a table shows of figures(): key, title, unit.
ROWS = (
    ("requests_per_second", "requests a second", 1),
    ("cpu_seconds", "CPU ms a request", 1e-3),
    ("system_seconds", "  of it in the kernel", 1e-3),
    ("minor_page_faults", "page faults a request", 1),
    ("allocations", "allocations a request", 1),
    ("allocated_bytes", "MB allocated a request", 1e6),
)


def parse_flags(arguments):
    parser = Flags("versions", DESCRIPTION, rounds=10)
    parser.add_argument(
        "-versions",
        metavar="LIST",
        type=distinct_numbers,
        default=[1, 2, 4],
        help="which ones (default 1,2,4)",
    )
    parser.add_argument(
        "-requests",
        metavar="N",
        type=positive_number,
        help="requests a sample, rounded up to the same number of each of the four known queries "
        f"(default {REQUESTS[1]} with version 1, {REQUESTS[2]} with 2 and 3, {REQUESTS_OF_OTHERS} "
        "with others)",
    )
    parser.add_argument(
        "-corpus",
        metavar="FOLDER",
        default="",
        help="the works to search; without it the text that shakesapp finds",
    )
    return parser.parse(arguments)


def sample_command(program, options, version):
    requests = options.requests or REQUESTS.get(version, REQUESTS_OF_OTHERS)
    return [
        str(program),
        f"-version={version}",
        f"-num_requests={requests}",
        f"-corpus={options.corpus}",
    ]


def take_sample(command):
    """What one process measured. Ends the benchmark when it fails, with its status for a wrong
    flag."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 2:
        sys.stderr.write(result.stderr)
        sys.exit(2)
    if result.returncode != 0:
        sys.exit(f"{result.stderr}{' '.join(command)}: failed with status {result.returncode}")
    return json.loads(result.stdout)


def measure(commands, rounds, report):
    """{version: its samples}, taken in turns."""
    taken = {version: [] for version in commands}
    for number in range(1, rounds + 1):
        for version, command in commands.items():
            report.progress(f"round {number} of {rounds}: version {version}")
            taken[version].append(take_sample(command))
    report.progress()
    return taken


def figures(sample):
    """A sample by the second and by the request."""
    cpu_seconds = sample["user_seconds"] + sample["system_seconds"]
    requests = sample["requests"]
    return {
        "requests_per_second": requests / sample["seconds"],
        "cpu_seconds": cpu_seconds / requests,
        "system_seconds": sample["system_seconds"] / requests,
        "minor_page_faults": sample["minor_page_faults"] / requests,
        "allocations": sample["allocations"] / requests,
        "allocated_bytes": sample["allocated_bytes"] / requests,
    }


def columns(taken):
    """{version: {figure: its values, round by round}}"""
    return {
        version: {key: [figures(one)[key] for one in ones] for key, _, _ in ROWS}
        for version, ones in taken.items()
    }


def compare(values):
    """For each two versions how much faster the later one is, and how much less CPU it takes."""
    return [
        {
            "version": after,
            "to_version": before,
            "times_faster": samples.summary(
                samples.ratios(values[after]["requests_per_second"], values[before]["requests_per_second"])
            ),
            "times_less_cpu": samples.summary(
                samples.ratios(values[before]["cpu_seconds"], values[after]["cpu_seconds"])
            ),
        }
        for before, after in itertools.combinations(values, 2)
    ]


def figures_table(summaries):
    rows = [["", *(f"version {version}" for version in summaries)]]
    for key, title, unit in ROWS:
        cells = [tables.median_and_spread(summary[key], unit) for summary in summaries.values()]
        rows.append([title, *cells])
    return tables.table(rows)


def ratios_table(ratios):
    rows = [["", "times faster", "its median lies in", "times less CPU"]]
    for ratio in ratios:
        rows.append(
            [
                f"version {ratio['version']} to version {ratio['to_version']}",
                tables.median_and_spread(ratio["times_faster"]),
                tables.median_interval(ratio["times_faster"]),
                tables.median_and_spread(ratio["times_less_cpu"]),
            ]
        )
    return tables.table(rows)


def heading(results):
    corpus = results["corpus"]
    return (
        f"Rounds: {results['rounds']}; median (10th-90th percentile) of the samples\n"
        f"Text: {corpus['kind']}, {corpus['works']} works, {corpus['lines']:,} lines, "
        f"{corpus['bytes']:,} bytes in {corpus['folder']}\n"
        f"Machine: {machine.sentence(results['machine'])}\n"
    )


def main(build, *arguments):
    options = parse_flags(arguments)
    report = Report(options.json)
    program = Path(build, "tests", "bench", "measure_version")
    commands = {version: sample_command(program, options, version) for version in options.versions}
    results = {
        "benchmark": "versions",
        "command": ["scripts/bench", "versions", *arguments],
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine.describe(Path(build)),
        "rounds": options.rounds,
        "sample_commands": commands,
    }
    taken = measure(commands, options.rounds, report)
    values = columns(taken)
    results["samples"] = taken
    results["corpus"] = taken[options.versions[0]][0]["corpus"]
    results["figures"] = {
        version: {key: samples.summary(ones) for key, ones in by_key.items()}
        for version, by_key in values.items()
    }
    results["ratios"] = compare(values)

    report.write(heading(results))
    report.write(figures_table(results["figures"]))
    if results["ratios"]:
        report.write(ratios_table(results["ratios"]))
    report.write_json(results)


try:
    main(*sys.argv[1:])
except KeyboardInterrupt:
    sys.exit(130)
