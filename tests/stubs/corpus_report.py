"""Reads every stub of pyrefly-torch-stubs and counts what becomes of its functions: docs/stub-corpus.md.

``python -m tests.stubs.corpus_report`` rewrites the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from shapedsl import pipeline
from shapedsl.diagnostics import Diagnostic, Report, Source, Span
from shapedsl.ir import Ellipsis, Module, Signature, Static, TensorType, Type
from shapedsl.ir.walk import subtypes

from .corpus_scan import Scanned, scan

PAGE = Path(__file__).parents[2] / "docs" / "stub-corpus.md"
_OPEN = re.compile(r"is not evaluated|refuses what it|gives no shape|has two runs of dims")


@dataclass
class File:
    """One stub of the corpus, as it was read.

    Attributes:
        name: Its path in the package.
        source: Its text.
        module: Its specs.
        report: What was found.
        scanned: Its functions, as `corpus_scan` counts them.
    """

    name: str
    source: Source
    module: Module
    report: Report
    scanned: list[Scanned]

    @cached_property
    def _lines(self) -> list[tuple[int, Diagnostic]]:
        return [(line_of(diagnostic.span), diagnostic) for diagnostic in self.report]

    def spec(self, function: Scanned) -> Signature | None:
        """Returns the spec of a function; None if there is none."""
        return self._specs.get((function.name, function.index))

    @cached_property
    def _specs(self) -> dict[tuple[str, int], Signature]:
        """Returns the specs by name and by the how-manieth function of that name each is, as lines tell."""
        starts = {function.lines[0]: function for function in self.scanned}
        found: dict[tuple[str, int], Signature] = {}
        for signature in self.module:
            function = starts[line_of(signature.span)]
            assert function.name == signature.name
            found[function.name, function.index] = signature
        return found

    def findings(self, function: Scanned) -> list[Diagnostic]:
        """Returns what was found in the head of a function."""
        first, last = function.lines
        return [diagnostic for line, diagnostic in self._lines if first <= line <= last]

    @property
    def shaped(self) -> list[Scanned]:
        """The functions that speak of shapes, without those that compute them."""
        return [function for function in self.scanned if function.shaped and not function.computes]


def line_of(span: Span | None) -> int:
    """Returns the line that a span starts on."""
    assert span is not None
    return span.source.position(span.start)[0]


@cache
def read_all(folder: Path) -> tuple[File, ...]:
    """Returns every stub of the package, read once."""
    return tuple(_read(path, folder) for path in sorted(folder.rglob("*.pyi")))


def _read(path: Path, folder: Path) -> File:
    source, report = Source(str(path), path.read_text(encoding="utf-8")), Report()
    module = pipeline.read_stub(source, report)
    return File(path.relative_to(folder).as_posix(), source, module, report, scan(source.text))


# ------------------------------------------------------------------------------------ page


def page(files: Sequence[File]) -> str:
    """Returns the text of the page."""
    sections = [
        _INTRODUCTION,
        *_table(
            ("file", "functions", "with shapes", "specs", "in full", "in part", "refused"), _rows(files), total=True
        ),
        "",
        _RETURNS,
        *_table(("return types of specs", "specs"), _returns(files)),
        "",
        _CALLS,
        *_table(("shape function", "called by", "evaluated", "left open"), _functions(files)),
        "",
        _TRUST,
        _REASONS,
        *_table(("what is not said, and why", "times"), _reasons(files)),
        "",
    ]
    return "\n".join(sections)


def bless(files: Sequence[File]) -> None:
    """Rewrites the page."""
    PAGE.write_text(page(files), encoding="utf-8")


_INTRODUCTION = """\
# What becomes of Pyrefly's stubs of torch

`pyrefly-torch-stubs` 1.4 is the largest body of stubs with shapes there is. This page counts what `shapedsl stubs`
makes of it; a test reads the package and compares. Rewrite the page with `python -m tests.stubs.corpus_report`.

- *functions*: every `def`, overloads and methods too, but for the shape functions of `_shapes.pyi`.
- *with shapes*: an annotation names a type parameter for sizes, `Tensor[…]`, `Int`, `IntTuple` and their like, or is
  `Self` in a class of tensors. A test counts them once more from the tokens of the files alone.
- *in full*: nothing that the stub says of shapes is missing in the spec. *In part*: a note says what is, and why.
- *refused*: there is no spec, and a finding says why: these are properties, which are never called.
"""

_RETURNS = """\
## Return types

A return type is a claim. What a stub leaves open, for the rank is not known or a flag may have any value, the spec does
not claim: a flag's default is no fact of the other calls.
"""

_CALLS = """\
## Shape functions

Of a type like `Tensor[reduce_shape(Shape, Dim, Keepdim)]` the function is evaluated on the dims of the spec. With
`Shape: IntTuple` the rank is not known, and with `Dim: Flag[int]` nor is the axis; few results hold all the same. Where a
stub names its dims, as `[B, C, H, W]`, more of them do.
"""

# `shape_functions/test_torch.py` holds these figures against what it compares.
_TRUST = """\
### How far they can be trusted

All 98 functions of `_shapes.pyi` are interpreted, none is executed. They were compared with torch for 142 operators
under 228 sets of arguments, which between them call every function: at each of 900 sampled shapes a function gives what
torch gives for meta tensors, and what it refuses torch refuses. For 223 of the 228 there is also a result for variables,
which holds at each of these shapes; the others are undecided, such as how `B` and `N` broadcast.

A function may answer a variable by another formula than an int: `arange_step_extent` gives `(end - start) // step`, one
too few unless the step divides. So a result that depends on such a question is tried at 13 sets of sizes, and left open
if the function contradicts itself there.
"""

_REASONS = """\
## Reasons
"""


def _table(head: Sequence[str], rows: Iterable[Sequence[str | int]], *, total: bool = False) -> Iterator[str]:
    listed = [[str(cell) for cell in row] for row in rows]
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join(["---", *["--:"] * (len(head) - 1)]) + "|"
    for row in listed:
        yield "| " + " | ".join(row) + " |"
    if total:
        sums = [sum(int(row[i]) for row in listed) for i in range(1, len(head))]
        yield "| " + " | ".join(["all", *map(str, sums)]) + " |"


def _rows(files: Sequence[File]) -> Iterator[tuple[str, int, int, int, int, int, int]]:
    for file in files:
        functions = [function for function in file.scanned if not function.computes]
        specs = [function for function in file.shaped if file.spec(function) is not None]
        part = [function for function in specs if file.findings(function)]
        if functions:
            yield (
                f"`{file.name}`",
                len(functions),
                len(file.shaped),
                len(specs),
                len(specs) - len(part),
                len(part),
                len(file.shaped) - len(specs),
            )


def _returns(files: Sequence[File]) -> Iterator[tuple[str, int]]:
    counted = Counter(_claim(signature) for file in files for signature in file.module)
    for claim in ("every dim", "some dims", "tensors of any shape", "no tensor"):
        yield claim, counted[claim]


def _claim(signature: Signature) -> str:
    if signature.returns is None:
        return "no tensor"
    tensors = [each for each in _every(signature.returns) if isinstance(each, TensorType)]
    said = [dim for each in tensors for dim in each.dims or ()]
    open_ = [dim for dim in said if isinstance(dim, (Static, Ellipsis))]
    if not tensors:
        return "no tensor"
    if all(each.dims is not None for each in tensors) and not open_:
        return "every dim"
    return "some dims" if len(said) > len(open_) else "tensors of any shape"


def _every(type_: Type) -> Iterator[Type]:
    yield type_
    for inner in subtypes(type_):
        yield from _every(inner)


def _functions(files: Sequence[File]) -> Iterator[tuple[str, int, int, int]]:
    called: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for file in files:
        for function in file.shaped:
            if not function.calls:
                continue
            text = _head(file, function)
            names = sorted(set(re.findall(r"(?:shape_extensions\.)?\b(\w+)\((?!\))", text.rpartition("->")[2])))
            notes = [d for d in file.findings(function) if _OPEN.search(d.message)]
            for name in names:
                called[name] += 1
                left[name] += bool(notes)
    for name, number in sorted(called.items()):
        yield f"`{name}`", number, number - left[name], left[name]


def _head(file: File, function: Scanned) -> str:
    lines = file.source.text.splitlines()
    return "\n".join(lines[function.lines[0] - 1 : function.lines[1]])


def _reasons(files: Sequence[File]) -> list[tuple[str, int]]:
    counted = Counter(
        reason(diagnostic) for file in files for function in file.shaped for diagnostic in file.findings(function)
    )
    return sorted(counted.items(), key=lambda row: (-row[1], row[0]))


def reason(diagnostic: Diagnostic) -> str:
    """Returns a message without what is particular to one function."""
    text = re.sub(r"`[^`]*`", "`…`", diagnostic.message)
    text = re.sub(r"\([^()]*\)", "(…)", text)
    text = re.sub(r"the sizes do not decide (?:how|`).*?(?=;|$)", "the sizes do not decide it", text)
    text = re.sub(r"(?:`…`: )?(?:nothing decides whether _ is true|the axis _ is not known)", "a flag decides it", text)
    text = text.replace("`…`: the sizes", "the sizes").replace("index -1", "index …").replace("index 0", "index …")
    return text.replace("|", "\\|")


if __name__ == "__main__":
    from .corpus import folder

    found = folder()
    if found is None:
        raise SystemExit("pyrefly-torch-stubs is not to be had")
    bless(read_all(found / "torch-stubs"))
