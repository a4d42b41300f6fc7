"""The flags of the benchmarks: one dash or two, and one line for a wrong one."""

import argparse


class Flags(argparse.ArgumentParser):
    def __init__(self, benchmark, description, rounds):
        super().__init__(
            prog=f"scripts/bench {benchmark}",
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument(
            "-rounds",
            metavar="N",
            type=positive_number,
            default=rounds,
            help=f"samples of each side, taken in turns (default {rounds})",
        )
        self.add_argument(
            "-json",
            metavar="FILE",
            help="write machine, samples and results to this file; - is standard output, and the "
            "tables then go to standard error",
        )
        self.add_argument("-help", action="help", help="print this and exit")

    def parse(self, arguments):
        return self.parse_args([with_one_dash(argument) for argument in arguments])

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; -help lists the flags\n")


def with_one_dash(argument):
    return argument[1:] if argument.startswith("--") else argument


def positive_number(text):
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def distinct_numbers(text):
    """A list such as 1,2,4."""
    numbers = [positive_number(part) for part in text.split(",")]
    if len(set(numbers)) < len(numbers):
        raise argparse.ArgumentTypeError(f"'{text}' names a number twice")
    return numbers
