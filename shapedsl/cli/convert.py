"""``shapedsl convert``: legacy specs in Python files → new ones, or ``.shapes`` files; shown, checked, written, taken back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ..diagnostics import Diagnostic, Report, Source
from ..diagnostics.render.style import wants_color
from .common import STANDARD_INPUT, fail, format_option, read_input, say, show
from .converting.diffs import colored, unified
from .converting.files import files_in
from .converting.importing import imported_of, imports_in
from .converting.journal import FOLDER, Journal, latest
from .converting.outcome import Outcome
from .converting.pool import outcomes, workers_for
from .converting.progress import Progress
from .converting.reports import REPORTS, as_json, as_markdown
from .converting.summary import Summary, count
from .converting.work import Task, convert_bytes
from .converting.writing import undo, write

if TYPE_CHECKING:
    from click.core import ParameterSource

_INTERRUPTED = 130  # as a shell has it for Ctrl-C


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for, by the names of the options."""

    target: Literal["python", "shapes"]
    style: Literal["torch", "shapedsl"]
    diff: bool
    write: bool
    check: bool
    report: str | None
    jobs: int | None
    format_: str
    journal: Path
    exclude: tuple[str, ...]


@click.command("convert", short_help="Rewrite legacy torch.export.Dim specs in Python files.")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(allow_dash=True))
@click.option(
    "--to",
    "target",
    type=click.Choice(("python", "shapes")),
    default="python",
    help="Rewrite the Python files (the default), or extract a .shapes file beside each.",
)
@click.option(
    "--style",
    type=click.Choice(("torch", "shapedsl")),
    default="torch",
    help="Write torch's own ShapesSpec (the default), or calls of shapedsl.",
)
@click.option("--diff", is_flag=True, help="Show what would change, and write nothing; the default.")
@click.option("--write", "write_", is_flag=True, help="Write the files.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--undo", "undo_", is_flag=True, help="Take back what the last --write here wrote, or of it the PATHs.")
@click.option(
    "--report",
    type=click.Choice(REPORTS),
    help="Print a verdict for each call site instead of a diff; with --write or --check too.",
)
@click.option("--exclude", metavar="GLOB", multiple=True, help="Leave out files and folders. May be repeated.")
@click.option("--jobs", "-j", metavar="N", type=click.IntRange(1, 512), help="Processes; by default as many as pay.")
@click.option(
    "--journal",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(FOLDER),
    show_default=True,
    help="Where --write notes what it replaces, for --undo.",
)
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    target: Literal["python", "shapes"],
    style: Literal["torch", "shapedsl"],
    diff: bool,
    write_: bool,
    check: bool,
    undo_: bool,
    report: str | None,
    exclude: tuple[str, ...],
    jobs: int | None,
    journal: Path,
    format_: str,
) -> None:
    """Rewrite legacy torch.export.Dim specs in Python files. They are read as source; nothing is imported or run.

    \b
    shapedsl convert src                        show what would change, as a diff
    shapedsl convert --write src                do it
    shapedsl convert --undo                     take it back
    shapedsl convert --check src                in continuous integration
    shapedsl convert --report md src            a verdict for each call site
    shapedsl convert --to shapes --write src    extract the specs, as .shapes files
    shapedsl convert - < net.py                 standard input to standard output

    A call site is converted whole, or kept, with the reason on standard error; a file that cannot be
    converted safely is skipped. Exit codes: 0 done, 1 something was kept or is wrong, or (with --check)
    a file would change, 2 misuse, 130 interrupted.
    """
    _refuse_misuse(ctx, paths, undo_)
    options = Options(target, style, diff, write_, check, report, jobs, format_, journal, exclude)
    work = _undo if undo_ else _filter if paths == (STANDARD_INPUT,) else _convert
    try:
        code = work(paths, options)
    except KeyboardInterrupt:
        say("interrupted; nothing was written", err=True)
        code = _INTERRUPTED
    fail(code)


def _refuse_misuse(ctx: click.Context, paths: tuple[str, ...], undo_: bool) -> None:
    def is_given(name: str) -> bool:
        source: ParameterSource | None = ctx.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    others = ("target", "style", "diff", "write_", "check", "report", "jobs", "exclude")
    if undo_ and any(map(is_given, others)):
        raise click.UsageError("--undo goes with PATHs, --journal and --format alone.")
    if not all(paths):
        raise click.UsageError("A PATH is empty; the current folder is '.'.")
    if not paths and not undo_:
        raise click.UsageError("Missing argument 'PATH...'.")
    if STANDARD_INPUT in paths and (len(paths) > 1 or undo_ or is_given("write_")):
        raise click.UsageError("'-' goes alone, and standard input cannot be written to.")
    if is_given("write_") and is_given("check"):
        raise click.UsageError("--check writes nothing, so it does not go with --write.")
    if is_given("report") and is_given("diff"):
        raise click.UsageError("--report is printed instead of a diff, so it does not go with --diff.")
    if is_given("style") and ctx.params["target"] == "shapes":
        raise click.UsageError("--style is about Python; a .shapes file has one style.")


# ------------------------------------------------------------------------------------- files and folders


def _convert(paths: tuple[str, ...], options: Options) -> int:
    """Returns the exit code of converting files and folders."""
    found = Report()  # what concerns no file
    candidates = files_in(paths, options.exclude, found)
    misuse = any(not os.path.lexists(path) for path in paths)
    imports = imports_in(Path(each.name) for each in candidates) if options.target == "python" else {}
    tasks = [
        Task(each.name, each.named, options.style, options.target, imported=imported_of(Path(each.name), imports))
        for each in candidates
    ]
    run = _Run(options, Journal(options.journal), Progress(len(tasks), wanted=options.format_ == "full"))
    jobs = options.jobs or workers_for(len(tasks), _cores())
    try:
        with closing(outcomes(tasks, jobs)) as results:
            for outcome in results:
                run.take(outcome)
    except KeyboardInterrupt:
        run.finish(found, interrupted=True)
        _say_interrupted(run, len(tasks))
        return _INTERRUPTED
    run.finish(found)
    if misuse or run.unwritten:
        return 2
    return int(bool(found.errors) or run.errors or (options.check and run.summary.changed > 0))


@dataclass(slots=True)
class _Run:
    """What is done with the outcomes as they come."""

    options: Options
    journal: Journal
    progress: Progress
    summary: Summary = field(default_factory=Summary)
    told: list[Outcome] = field(default_factory=list[Outcome])  # those about which there is something to tell
    seen: set[str] = field(default_factory=set[str])  # messages that one run says once
    errors: bool = False
    unwritten: bool = False

    def take(self, outcome: Outcome) -> None:
        """Shows, writes or counts what became of a file."""
        outcome = self._once(outcome)
        change = outcome.change
        if change is not None:
            self.progress.clear()
            if self.options.write:
                outcome = self._write(outcome)
            if outcome.change is not None and not self.options.report:
                self._show(outcome)
        self.summary.add(outcome)
        self.errors |= any(d.severity.value == "error" for d in outcome.diagnostics)
        if outcome.sites or outcome.diagnostics:
            self.told.append(_without_contents(outcome))
        self.progress.step()

    def finish(self, found: Report, *, interrupted: bool = False) -> None:
        """Prints what there is to say at the end.

        Args:
            found: What concerns no file.
            interrupted: Whether files are left, of which nothing is known: then the counts are no result.
        """
        self.progress.clear()
        self.journal.close()
        done = self.options.write
        if self.options.report == "json":
            say(as_json(self.told, found.diagnostics, self.summary))
        elif self.options.report == "md":
            say(as_markdown(self.told, found.diagnostics, self.summary, done=done))
        if self.options.report is None or done:
            show(_all_of(found, self.told), self.options.format_, err=True)
        if self.options.format_ == "full" and self.options.report is None and not interrupted:
            say(self.summary.line(done=done), err=True)
            if self.summary.changed and not (done or self.options.check):
                say("nothing is written yet: --write does it", err=True)
            elif done and self.summary.changed:
                say(f"{_undoing(self.options)} takes it back", err=True)

    def _write(self, outcome: Outcome) -> Outcome:
        """Returns the outcome after its change was made; without the change, and with the reason, if it was not."""
        assert outcome.change is not None
        report = Report()
        if write(outcome.change, self.journal, report):
            return outcome
        self.unwritten |= bool(report.errors)
        diagnostics = (*outcome.diagnostics, *report)
        return Outcome(outcome.name, (), None, diagnostics, skipped=True)

    def _show(self, outcome: Outcome) -> None:
        options = self.options
        assert outcome.change is not None
        if options.diff or not (options.write or options.check):
            say(colored(outcome.change.diff, wants_color(sys.stdout)))
        if options.write or options.check:
            verb = "converted" if options.target == "python" else "wrote"
            if options.check:
                verb = "would convert" if options.target == "python" else "would write"
            kept = f", {outcome.kept} kept" if outcome.kept else ""
            say(f"{verb} {outcome.change.name}: {count(outcome.converted, 'call site')}{kept}")

    def _once(self, outcome: Outcome) -> Outcome:
        """Returns the outcome without what was said of another file in the same words: that a package is missing."""
        general = {d.message for d in outcome.diagnostics if d.code == "missing-extra"}
        if not general:
            return outcome
        kept = tuple(d for d in outcome.diagnostics if d.code != "missing-extra" or d.message not in self.seen)
        self.seen |= general
        return Outcome(outcome.name, outcome.sites, outcome.change, kept, outcome.skipped)


def _without_contents(outcome: Outcome) -> Outcome:
    """Returns what a report needs: of a thousand files, their contents are not kept."""
    if outcome.change is None:
        return outcome
    change = type(outcome.change)(outcome.change.name, None, b"", ())
    return Outcome(outcome.name, outcome.sites, change, outcome.diagnostics, outcome.skipped)


def _all_of(found: Report, told: Iterable[Outcome]) -> Iterator[Diagnostic]:
    yield from found
    for outcome in told:
        yield from outcome.diagnostics


def _say_interrupted(run: _Run, total: int) -> None:
    say(f"interrupted after {run.summary.files:,} of {count(total, 'file')}; each file is whole", err=True)
    if run.journal.count:
        say(f"{_undoing(run.options)} takes back what was written", err=True)


def _undoing(options: Options) -> str:
    elsewhere = "" if options.journal == Path(FOLDER) else f" --journal {options.journal}"
    return f"shapedsl convert --undo{elsewhere}"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # a container may have fewer than the machine
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---------------------------------------------------------------------------------------- standard input


def _filter(_paths: tuple[str, ...], options: Options) -> int:
    """Returns the exit code of converting standard input; what it becomes goes to standard output."""
    report = Report()
    task = Task("<stdin>", True, options.style, options.target)
    raw = read_input(report)
    result = None if raw is None else convert_bytes(task, raw, report)
    before = _decoded(raw)
    after = before
    changed = False
    if result is not None:
        after = result.shapes if options.target == "shapes" else result.text if result.text is not None else before
        changed = bool(after) if options.target == "shapes" else after != before
    elif options.target == "shapes":
        after = ""
    old = None if options.target == "shapes" else before
    outcome = Outcome(task.name, () if result is None else result.sites, None, report.diagnostics, result is None)
    summary = Summary()
    summary.add(outcome)
    summary.changed = int(changed)
    if options.report == "json":
        say(as_json([outcome], (), summary))
    elif options.report == "md":
        say(as_markdown([outcome], (), summary, done=False))
    else:
        if options.diff:
            lines = unified("<stdin>", old, after)
            if lines:
                say(colored(lines, wants_color(sys.stdout)))
        elif not options.check:
            _put(after)
        show(report, options.format_, err=True)
    if raw is None:
        return 2
    return int(bool(report.errors) or (options.check and changed))


def _decoded(raw: bytes | None) -> str:
    from .. import pipeline

    source: Source | None = None if raw is None else pipeline.decode_python("<stdin>", raw, Report())
    return "" if source is None else source.text


def _put(text: str) -> None:
    """Prints a text to the letter, where its line ends with ``\\r\\n`` too."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
    except AttributeError:  # a standard output without bytes
        sys.stdout.write(text)


# ------------------------------------------------------------------------------------------------- undo


def _undo(paths: tuple[str, ...], options: Options) -> int:
    """Returns the exit code of taking a run back."""
    report = Report()
    journal = latest(options.journal)
    if journal is None:
        say(f"there is nothing to undo: `{options.journal}` has no journal", err=True)
        return 2
    try:
        undone = undo(journal, paths, report)
    except KeyboardInterrupt:
        say("interrupted; each file is whole, and --undo goes on where it was", err=True)
        return _INTERRUPTED
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        help_ = "remove it to take back the run before it"
        report.error("unreadable-file", f"cannot use the journal `{journal}`: {reason}", help=help_)
        show(report, options.format_, err=True)
        return 2
    for name in undone.restored:
        say(f"restored {name}")
    for name in undone.removed:
        say(f"removed {name}")
    show(report, options.format_, err=True)
    parts = [f"{count(len(undone.restored), 'file')} restored"] if undone.restored or not undone.removed else []
    if undone.removed:
        parts.append(f"{count(len(undone.removed), 'file')} removed")
    if undone.refused:
        parts.append(f"{len(undone.refused)} left alone")
    if options.format_ == "full":
        say(", ".join(parts), err=True)
    return int(bool(undone.refused))


__all__ = ["command"]
