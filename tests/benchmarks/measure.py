"""Interleaved timing. Two things are timed in turns, so that what else the machine does hits both."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: The thing measured.
        than: What it is compared with.
        ratio: Median of its time, divided by the other's.
        aim: The ratio that it should not exceed; None where there is none.
        seconds: Its own median time.
    """

    what: str
    than: str
    ratio: float
    aim: float | None = None
    seconds: float = 0.0


def timed(call: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Returns how many seconds one call takes: of this process, so that waiting for a core does not count."""
    start = clock()
    call()
    return clock() - start


def side_by_side(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    rounds: int = 15,
    budget: float = 20.0,
    clock: Callable[[], float] = time.process_time,
) -> tuple[float, float]:
    """Returns the median seconds of each, timed in turns; fewer rounds if ``budget`` seconds are spent."""
    first(), second()  # warm up
    pairs: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(pairs) < rounds and (len(pairs) < 3 or time.perf_counter() - start < budget):
        gc.collect()
        if len(pairs) % 2:  # in turns: after a collection the caches are cold, and whoever comes first pays
            theirs, ours = timed(second, clock), timed(first, clock)
        else:
            ours, theirs = timed(first, clock), timed(second, clock)
        pairs.append((ours, theirs))
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def compare(
    what: str,
    first: Callable[[], object],
    than: str,
    second: Callable[[], object],
    *,
    aim: float | None = None,
    rounds: int = 15,
    clock: Callable[[], float] = time.process_time,
) -> Row:
    """Returns the row for ``first`` against ``second``."""
    ours, theirs = side_by_side(first, second, rounds=rounds, clock=clock)
    return Row(what, than, ours / theirs, aim, ours)


def process(
    *arguments: str, code: str = "", cwd: Path | None = None, accept: Sequence[int] = (0,)
) -> Callable[[], object]:
    """Returns a call that runs a fresh interpreter of this checkout, with byte code cached.

    Args:
        arguments: Of the interpreter.
        code: Run instead of them.
        cwd: The folder to run it in.
        accept: Exit codes of a run that did its work.
    """
    command: Sequence[str] = [sys.executable, *(["-c", code] if code else arguments)]

    def run() -> object:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
            capture_output=True,
            check=False,
            timeout=1200,
        )
        if done.returncode not in accept:
            done.check_returncode()
        return done

    return run


def repeat(call: Callable[[], object], times: int) -> Callable[[], object]:
    """Returns a call that does ``call`` ``times`` times."""

    def run() -> None:
        for _ in range(times):
            call()

    return run
