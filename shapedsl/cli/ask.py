"""``shapedsl ask``: does a spec imply a predicate, or what can a size be?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from .. import pipeline
from ..diagnostics import Report, ShapeError, Span
from ..diagnostics.render.json import span_as_dict
from .common import const_option, fail, read_specs, refusal, say, show, split_target
from .completion import complete_spec

if TYPE_CHECKING:
    from ..api.answers import Answer, SizeRange
    from ..pipeline import Signature

_EXIT = {"proved": 0, "refuted": 1, "unknown": 3}
_WORDS = {"proved": "proved", "refuted": "refuted", "unknown": "undecided"}


@click.command("ask", short_help="Ask whether a spec implies a predicate, or what a size can be.")
@click.argument("target", metavar="FILE[:SPEC]", type=click.Path(allow_dash=True), shell_complete=complete_spec)
@click.argument("question", metavar="QUESTION")
@click.option("--case", metavar="NAME", help="Ask within one case, or 'otherwise'.")
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON.")
@const_option
def command(target: str, question: str, case: str | None, as_json: bool, consts: Mapping[str, int]) -> None:
    """Ask whether a spec implies a predicate; of an expression, what it can be.

    \b
    shapedsl ask net.shapes "B % 8 == 0"            does it hold for every shape?
    shapedsl ask net.shapes:Net.forward "B <= S"    of one of several specs
    shapedsl ask --case small net.shapes "B == 1"   where this case is taken
    shapedsl ask net.shapes "2*B + 1"               the range and the residue of a size
    shapedsl ask --json net.shapes "B < S"          for programs
    shapedsl ask net.shapes -- "-k < 4"             what begins with a minus

    Without :SPEC every spec that has the sizes is asked.

    Exit codes: 0 proved (or a range), 1 refuted or the file has errors, 2 misuse, 3 undecided.
    """
    name, spec = split_target(target)
    report = Report()
    chosen = read_specs(name, spec, consts, report)
    for signature in chosen:
        pipeline.resolve(signature, report)
    if report.errors:
        show(report, err=True)
        fail(refusal(report.errors))
    if not chosen:
        raise click.UsageError(f"'{name}' has no specs.")
    answers = _answers(chosen, question, case)
    if as_json:
        documents = [{"spec": key, "question": question, **_as_dict(answer)} for key, answer in answers.items()]
        say(json.dumps({"version": 1, "answers": documents}, indent=2))
    else:
        for key, answer in answers.items():
            say("\n".join(_lines(question, answer, f"{key}: " if len(chosen) > 1 else "")))
    codes = {_code(answer) for answer in answers.values()}
    fail(next(code for code in (1, 3, 0) if code in codes))


def _answers(chosen: list[Signature], question: str, case: str | None) -> dict[str, Answer | SizeRange]:
    """Returns the answers of the specs that can be asked; ends the command, with the reasons, where none can."""
    from ..api.asking import ask, is_size, range_of

    query = range_of if is_size(question) else ask
    answers: dict[str, Answer | SizeRange] = {}
    failed: list[ShapeError] = []
    for signature in chosen:
        try:
            answers[signature.key] = query(signature, question, case=case)
        except ShapeError as error:
            failed.append(error)
    elsewhere = ("unknown-name", "unknown-case")  # another spec may have it
    serious = [error for error in failed if error.code not in elsewhere]
    if serious or not answers:
        told = (serious or failed)[0]
        show(told.diagnostics, err=True)
        fail(1 if told.code == "contradiction" else 2)
    return answers


def _code(answer: Answer | SizeRange) -> int:
    from ..api.answers import Answer

    return _EXIT[answer.verdict] if isinstance(answer, Answer) else 0


def _lines(question: str, answer: Answer | SizeRange, prefix: str) -> list[str]:
    """Returns what is told to a reader: the verdict, and the lines that it follows from."""
    from ..api.answers import Answer

    question = " ".join(question.split())
    if not isinstance(answer, Answer):
        return [f"{prefix}{question} is {'in ' if str(answer).startswith('[') else ''}{answer}"]
    head = f"{prefix}{_WORDS[answer.verdict]}: {question}"
    if answer.verdict == "refuted":
        return [head, f"    fails at {answer.sizes()}" if answer.witness else "    never holds"]
    if answer.verdict == "unknown":
        return [head, f"    {answer.reason}"]
    rows = [(_place(c.span), text) for c, text in zip(answer.constraints, answer.core, strict=True)]
    width = max((len(place) for place, _ in rows), default=0)
    lines = [f"    {place:<{width}}  {text}" if width else f"    {text}" for place, text in rows]
    reason = answer.reason or ("" if lines else "it always holds")
    return [head, *([f"    {reason}"] if reason else []), *lines]


def _place(span: Span | None) -> str:
    return "" if span is None else f"{span.source.name}:{span.source.position(span.start)[0]}"


def _as_dict(answer: Answer | SizeRange) -> dict[str, object]:
    """Returns an answer as JSON values; offsets as in ``--format json``."""
    from ..api.answers import Answer

    if not isinstance(answer, Answer):
        return {"range": {name: getattr(answer, name) for name in ("lo", "hi", "modulus", "residue", "exact")}}
    core = [
        {"text": text, "span": None if c.span is None else span_as_dict(c.span)}
        for c, text in zip(answer.constraints, answer.core, strict=True)
    ]
    return {"verdict": answer.verdict, "core": core, "witness": answer.witness, "reason": answer.reason}


__all__ = ["command"]
