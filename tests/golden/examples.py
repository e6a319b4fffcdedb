"""Runs the ``python`` and ``console`` blocks of a document, in order, as a reader would."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import expectations
from .markdown import Block, Document
from .stages import Mismatch, Outcome

_ROOT = Path(__file__).parents[2]
_SHOWN = {"python", "console"}


def runnable(document: Document) -> list[Block]:
    """Returns the document's executed blocks."""
    return [b for section in document.sections for b in section.blocks if b.language in _SHOWN]


def run_examples(document: Document, folder: Path) -> Outcome:
    """Runs every block in ``folder``, which later blocks find as earlier ones left it.

    Raises:
        Mismatch: A block failed; the text says where.
    """
    outcome = Outcome()
    environment = _environment(folder)
    namespace: dict[str, Any] = {"__name__": "__example__"}
    printed = io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        for section in document.sections:
            for block in section.blocks:
                if block.file:
                    target = folder / block.file
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(expectations.strip(block.body), encoding="utf-8")
                if block.language == "python":
                    with contextlib.redirect_stdout(io.StringIO()) as printed:
                        _run_python(document.path, block, namespace)
                elif block.info == ["text", "output"]:
                    _compare_output(block, printed.getvalue(), outcome)
                elif block.language == "console":
                    _run_console(block, folder, environment, outcome)
    finally:
        os.chdir(before)
    return outcome


def _environment(folder: Path) -> dict[str, str]:
    """Returns an environment in which ``shapedsl`` is this checkout's, whether it is installed or not."""
    tools = folder / ".bin"
    tools.mkdir(exist_ok=True)
    for name, module in (("shapedsl", "-m shapedsl"), ("python", "")):
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        script.chmod(0o755)
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{_ROOT}{os.pathsep + path if path else ''}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def _run_python(path: Path, block: Block, namespace: dict[str, Any]) -> None:
    if ">>> " in block.body:
        test = doctest.DocTestParser().get_doctest(block.body, namespace, path.name, str(path), block.line - 1)
        log: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=log.append, clear_globs=False)
        namespace.update(test.globs)
        if log:
            raise Mismatch("".join(log))
        return
    # Annotated examples are looked up in their source, so the code is a real file as well, at the document's lines.
    script = Path(f"example_{block.line}.py")
    script.write_text("\n" * (block.line - 1) + block.body, encoding="utf-8")
    exec(compile(script.read_text(encoding="utf-8"), str(script.resolve()), "exec", dont_inherit=True), namespace)


def _compare_output(block: Block, got: str, outcome: Outcome) -> None:
    if not _matches(block.body, got):
        outcome.problems.append(f"line {block.line}: printed was\n{got}\n--- expected\n{block.body}")
        outcome.edits.append((block, got.rstrip("\n") + "\n"))


def _run_console(block: Block, folder: Path, environment: dict[str, str], outcome: Outcome) -> None:
    """Runs each ``$`` line and compares what it prints, standard error included."""
    parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    if parts[0].strip():
        raise Mismatch(f"line {block.line}: a console block begins with `$ `")
    got_all, wrong = "", []
    for part in parts[1:]:
        command, _, want = part.partition("\n")
        while command.endswith("\\"):
            more, _, want = want.partition("\n")
            command += "\n" + more
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        got = re.sub(r"[ \t]+$", "", done.stdout.replace(str(folder) + "/", ""), flags=re.MULTILINE)
        same = _matches(want, got)
        got_all += f"$ {command}\n{want if same else got}"
        if not same:
            wrong.append(f"line {block.line}: $ {command}\n--- expected\n{want}--- got (exit {done.returncode})\n{got}")
    if wrong:
        outcome.problems += wrong
        outcome.edits.append((block, got_all))


def _matches(want: str, got: str) -> bool:
    """Returns whether the texts agree; a line ``...`` in ``want`` stands for any lines."""
    pieces = re.split(r"^\.\.\.$\n?", want.rstrip() + "\n", flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(re.escape(piece) for piece in pieces)
    text = "".join(line.rstrip() + "\n" for line in got.rstrip().split("\n"))
    return re.fullmatch(pattern, text) is not None
