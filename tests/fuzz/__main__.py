"""``python -m tests.fuzz --seed N --count 10000``: asks, compares, counts; fails if an answer is wrong.

Every wrong answer is printed with what runs it again alone.
"""

from __future__ import annotations

import argparse
import os
import sys

from .tally import Tally, run


def main() -> int:
    """Returns the exit code: 1 if an answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000, help="how many systems")
    parser.add_argument("--start", type=int, default=0, help="the number of the first")
    parser.add_argument("--only", choices=("linear", "nonlinear"), help="leave the others out")
    parser.add_argument("--show", choices=("unknown", "larger"), action="append", default=[], help="print these too")
    parser.add_argument("--smt", action="store_true", help="let z3 answer what the engine does not know")
    options = parser.parse_args()
    os.environ["SHAPEDSL_SMT"] = str(int(options.smt))
    tally = Tally()
    for line in run(
        options.seed, range(options.start, options.start + options.count), tally, options.only, options.show
    ):
        print(line, flush=True)
    print(tally)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
