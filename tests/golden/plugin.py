"""The pytest plugin that collects markdown tests; see `tests.golden`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import markdown
from .examples import run_examples, runnable
from .stages import CHECKED, READ_ONLY, Mismatch, Outcome, run_case

ROOT = Path(__file__).parents[2]
BLESSED = pytest.StashKey[dict[Path, list[tuple[markdown.Block, str]]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite the expectations of markdown tests that differ")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BLESSED] = {}


def pytest_sessionfinish(session: pytest.Session) -> None:
    for path, edits in session.config.stash[BLESSED].items():  # at the end, so that line numbers stay right till then
        markdown.replace_bodies(path, edits)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".md":
        return None
    inside = file_path.relative_to(ROOT) if file_path.is_relative_to(ROOT) else file_path
    if inside.parts[:2] == ("tests", "cases") or inside.parts[0] in ("docs", "README.md"):
        return MarkdownFile.from_parent(parent, path=file_path)
    return None


class MarkdownFile(pytest.File):
    """A markdown file: one test a case, and one for all of its executed blocks."""

    def collect(self) -> Iterator[pytest.Item]:
        document = markdown.parse(self.path)
        inside = self.path.relative_to(ROOT).parts
        normalize = inside[0] != "tests" or inside[2] not in READ_ONLY
        checked = inside[0] != "tests" or inside[2] in CHECKED
        for section in document.sections:
            for case in section.cases():

                def run(folder: Path, case: markdown.Case = case, section: markdown.Section = section) -> Outcome:
                    return run_case(case, section.files, folder, normalize=normalize, checked=checked)

                yield MarkdownItem.from_parent(self, name=case.name, run=run, needs=document.needs)
        if runnable(document):
            yield MarkdownItem.from_parent(
                self, name="examples", run=lambda folder: run_examples(document, folder), needs=document.needs
            )


class MarkdownItem(pytest.Item):
    """One case, or the examples of one file."""

    def __init__(self, *, run: Callable[[Path], Outcome], needs: str | None, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self._run = run
        self._needs = needs

    def runtest(self) -> None:
        if self._needs and importlib.util.find_spec(self._needs) is None:
            pytest.skip(f"its examples need {self._needs}")
        folder = Path(tempfile.mkdtemp(prefix="shapedsl-case-"))
        try:
            outcome = self._run(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if outcome.refused:
            raise Mismatch("\n\n".join(outcome.refused + outcome.problems))
        if not outcome.problems:
            return
        if not self.config.getoption("--bless"):
            raise Mismatch("\n\n".join(outcome.problems))
        if "PYTEST_XDIST_WORKER" in os.environ:
            raise Mismatch("--bless writes files: run it without -n")
        self.config.stash[BLESSED].setdefault(self.path, []).extend(outcome.edits)
        pytest.skip("blessed: the expectation is rewritten; run it again")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        head = f"{self.path.relative_to(ROOT)}: {self.name}\n"
        if isinstance(excinfo.value, Mismatch):
            return f"{head}{excinfo.value}"
        frames = traceback.extract_tb(excinfo.tb)
        start = next((i for i, frame in enumerate(frames) if "tests/golden/" in frame.filename), 0)
        shown = "".join(traceback.format_list(frames[start:][-12:]))
        return f"{head}{shown}{''.join(traceback.format_exception_only(excinfo.value))}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name
