"""Tasks → outcomes, in the order of the tasks, by one process or several.

A worker may die of a file (a parser in another language has a stack of its own): then that file has an
outcome that says so, another worker takes its place, and the run goes on. Workers never write, and Ctrl-C
is not theirs to hear; they end when whoever started them does.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from ...diagnostics import Report
from .outcome import Outcome
from .work import Task, convert_file, crashed

_BATCH: Final = 16  # tasks that are sent at once: talking costs more than a file without specs
_ROUNDS: Final = 8  # batches for each worker, so that none waits long for the last one
_WORTH: Final = 40  # files for which starting a worker pays


def workers_for(tasks: int, cores: int) -> int:
    """Returns how many workers pay for so many tasks; 1 is this process alone."""
    return max(1, min(cores, tasks // _WORTH))


def outcomes(tasks: Sequence[Task], jobs: int) -> Generator[Outcome, None, None]:
    """Yields what becomes of each task, in their order, as soon as it is known.

    Args:
        tasks: Files.
        jobs: How many processes; with 1, there is no other.
    """
    jobs = min(jobs, len(tasks))
    if jobs <= 1:
        yield from map(convert_file, tasks)
        return
    crew = _Crew(tasks, jobs)
    try:
        yield from crew.run()
    finally:
        crew.dismiss()


@dataclass(slots=True)
class _Worker:
    """A process, the connection to it, and the tasks that it has."""

    process: BaseProcess
    connection: Connection
    batch: list[int] = field(default_factory=list[int])


class _Crew:
    """Some workers and what they have to do."""

    def __init__(self, tasks: Sequence[Task], jobs: int) -> None:
        size = max(1, min(_BATCH, len(tasks) // (jobs * _ROUNDS)))
        self.tasks = tasks
        self.batches = deque(list(range(at, min(at + size, len(tasks)))) for at in range(0, len(tasks), size))
        self.done: dict[int, Outcome] = {}
        self.workers: list[_Worker] = []
        # Not forked: a fork of a process with threads may hang, and who calls may have some.
        self.context = multiprocessing.get_context("spawn")
        for _ in range(jobs):
            self._start()

    def run(self) -> Iterator[Outcome]:
        """Yields the outcomes in order."""
        upcoming = 0
        while upcoming < len(self.tasks):
            if upcoming in self.done:
                yield self.done.pop(upcoming)
                upcoming += 1
                continue
            by_connection = {worker.connection: worker for worker in self.workers}
            for ready in wait(list(by_connection)):
                assert isinstance(ready, Connection)
                self._collect(by_connection[ready])

    def dismiss(self) -> None:
        """Ends all workers."""
        for worker in self.workers:
            worker.connection.close()  # an idle one reads the end of its input, and ends
            worker.process.terminate()
        for worker in self.workers:
            worker.process.join()

    def _start(self) -> None:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(theirs,), daemon=True)
        with _deaf():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        worker.batch = self.batches.popleft() if self.batches else []
        if worker.batch:
            with suppress(OSError):  # it died; reading from it tells
                worker.connection.send([self.tasks[at] for at in worker.batch])

    def _collect(self, worker: _Worker) -> None:
        try:
            found = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return
        self.done.update(zip(worker.batch, found, strict=True))
        self._give(worker)
        if not worker.batch:
            self.workers.remove(worker)
            worker.connection.close()
            worker.process.join()

    def _bury(self, worker: _Worker) -> None:
        """Finds out which of a dead worker's tasks killed it: each is given to another one, alone."""
        self.workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        if len(worker.batch) == 1:
            task = self.tasks[worker.batch[0]]
            report = Report()
            crashed(task.name, f"the process that read it ended with {_end(worker.process.exitcode)}", report)
            self.done[worker.batch[0]] = Outcome(task.name, diagnostics=report.diagnostics, skipped=True)
        else:
            self.batches.extendleft([at] for at in reversed(worker.batch))
        if self.batches:
            self._start()


@contextmanager
def _deaf() -> Generator[None, None, None]:
    """Blocks Ctrl-C, so that a process which is started never hears it; the terminal tells the whole group."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


def _serve(connection: Connection, work: Callable[[Task], Outcome] = convert_file) -> None:
    """Does what is sent until nothing more comes; what a worker runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            tasks: list[Task] = connection.recv()
        except (EOFError, OSError):
            return
        found = [work(task) for task in tasks]
        try:
            connection.send(found)
        except OSError:  # nobody waits for it any more
            return


__all__ = ["outcomes", "workers_for"]
