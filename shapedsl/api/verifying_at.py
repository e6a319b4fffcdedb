"""``shapedsl verify``: what is named as ``MODULE:OBJECT``, exported and compiled, against its spec.

Before::

    net:model net.shapes

After, for each alternative that is not ``eager``::

    export     the program's promises, its return claim, its values
    inductor   the values of the compiled artifact
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Module, Signature
from ..serving.verifying.report import Verification
from ..targets.tensors import torch_for
from .bundles import asking_of, exported
from .dispatching import dispatch
from .importing import callable_at, calls_at, object_at
from .sources import as_spec, choose
from .spec import Spec
from .spec_file import SpecFile
from .verifying import verify

if TYPE_CHECKING:
    from .lowering import LoweringName

_SAID: Final = ("backed-lowering", "failed-artifact", "undecided", "wrong-artifact")  # what a report has in other words
EXPORT: Final = "export"  # a backend that compiles nothing
Call = tuple[Sequence[Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class How:
    """How artifacts are made and compared.

    Attributes:
        backend: torch.compile's, or ``export`` for programs alone.
        lowering: As `export` and `compile` take it.
        case: The only alternative to look at.
        samples: How many calls of each artifact are compared; 0 for none.
        grad: Whether gradients are compared too.
        tolerance: Allowed relative error.
        seed: Of sizes and data.
        sizes: Sizes that are given, those of ``const X = _`` among them.
        examples: Calls, or a function that returns them, as ``pkg.mod:calls``.
        against: The original of an artifact that is a file or a program, as ``pkg.mod:net``.
        allow: Codes of what artifacts may demand beyond the spec.
    """

    backend: str = "inductor"
    lowering: LoweringName = "unbacked"
    case: str | None = None
    samples: int | None = None
    grad: bool = False
    tolerance: float | None = None
    seed: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    examples: str | None = None
    against: str | None = None
    allow: tuple[str, ...] = ()


def verified_at(target: str, signatures: Sequence[Signature] | None, how: How) -> list[Verification]:
    """Returns a report for each artifact of ``pkg.mod:net``, or of a file.

    Args:
        target: A function, a module, a class or ``make()``, see `callable_at`; an exported program; or the path of a
            program, an AOTInductor package or what `save_artifacts` wrote.
        signatures: A file's specs, of which one is chosen by the name of the callable; None for its annotations.
        how: What is done.

    Raises:
        ImportError: There is no such thing, or it is nothing that can be called.
        ShapeError: The spec is wrong, or there is none; ``missing-input``: it has static parts, so it needs an example.
        TypeError: ``examples`` are no calls, or the target is nothing that can be verified.
        ValueError: There is no such backend.
        OSError: The file cannot be read.
    """
    torch_for("verifying")
    _require_backend(how.backend)
    calls = None if how.examples is None else calls_at(how.examples)
    if is_file(target):
        return [_artifact(target, signatures, calls, how)]
    found = object_at(target) if ":" in target and not target.endswith("()") else None
    if hasattr(found, "graph_module"):
        return [_artifact(found, signatures, calls, how)]
    function = callable_at(target)
    if hasattr(function, "graph_module"):
        return [_artifact(function, signatures, calls, how)]
    if how.against is not None:
        raise ValueError(f"`{target}` is compared with itself; another original is for a program or a file")
    spec = _spec(function, signatures)
    mode = "compiled"
    if how.case is not None:
        signature, mode = spec.selected(how.case)
        spec = Spec(replace(signature, alternatives=()), spec.diagnostics)
        if mode == "eager":
            message = f"`{how.case}` of `{spec.name}` runs eagerly: there is no artifact to verify"
            raise ShapeError([Diagnostic("cases-not-lowered", Severity.ERROR, message, helps=("name another case",))])
    spec.normal()  # of a contradictory one there is no artifact, which is no verdict
    lowering: LoweringName = "backed" if mode == "backed" and how.lowering == "unbacked" else how.lowering
    how = replace(how, lowering=lowering)
    example = calls[0] if calls else spec.example(dict(how.sizes), seed=how.seed) if how.sizes else None
    reports = list(_programs(function, spec, example, calls, how))
    if how.backend != EXPORT:
        reports.append(_compiled(function, spec, example, calls, how))
    return reports


def _require_backend(backend: str) -> None:
    """Refuses a backend that torch does not know, before anything is made.

    Raises:
        ValueError: It is such.
    """
    from ..targets.entry.compile import require_options

    if backend != EXPORT:
        try:
            require_options({"backend": backend})
        except RuntimeError as error:
            raise ValueError(f"torch has no backend {backend!r}: {str(error).splitlines()[0]}") from None


def is_file(target: str) -> bool:
    """Returns whether ``target`` is the path of an artifact, rather than ``MODULE:OBJECT``."""
    return Path(target).is_file() or (":" not in target and Path(target).suffix != "")


def _spec(function: Callable[..., Any] | None, signatures: Sequence[Signature] | None) -> Spec:
    """Returns the spec of a callable: the file's, or that of its annotations."""
    if signatures is None:
        return as_spec(None, function)
    if len(signatures) == 1:
        return Spec(signatures[0])
    return choose(SpecFile(Module(tuple(signatures))), None, function)


def _programs(
    function: Callable[..., Any], spec: Spec, example: Call | None, calls: Iterable[Call] | None, how: How
) -> Iterator[Verification]:
    """Yields the report of each program that is exported."""
    from ..serving.exported.exporting import exports
    from ..targets.entry.serving import kept

    given = None if example is None else (tuple(example[0]), dict(example[1]))
    with kept(function):
        for each in exports(asking_of(function, spec, None), given, how.seed):
            several = bool(spec.signature.alternatives)
            kind = f"exported program of `{each.label}`" if several else "exported program"
            try:
                with _told() as remarks:
                    allowed = frozenset(how.allow) if how.lowering == "auto" else None  # else the report tells
                    program = exported(function, each, how.lowering, allowed, strict=False)
            except ShapeError as error:
                yield Verification(spec.name, kind, findings=error.diagnostics)
                continue
            except Exception as error:  # whatever torch or the original has to say: there is no artifact, then
                yield Verification(spec.name, kind, findings=(_not_exported(error, each.label, spec.name),))
                continue
            own = Spec(each.spec.signature)
            report = _one(program, own, None if how.samples == 0 else function, None if several else calls, how)
            yield replace(report, name=spec.name, kind=kind, remarks=(*remarks, *report.remarks))


def _not_exported(error: Exception, label: str, name: str) -> Diagnostic:
    from ..targets.traces import user_line

    line = user_line(error)
    said = next((row for row in str(error).splitlines() if row.strip()), "")
    notes = (*(() if line is None else (line,)), f"{type(error).__name__}: {said}")
    helps = ("see whether the function itself runs on an example: `spec.example()`",)
    return Diagnostic(
        "failed-artifact", Severity.ERROR, f"`{label}` of `{name}` cannot be exported", notes=notes, helps=helps
    )


def _compiled(
    function: Callable[..., Any], spec: Spec, example: Call | None, calls: Iterable[Call] | None, how: How
) -> Verification:
    """Returns the report of the compiled artifacts: dispatched, so that each alternative has its own.

    What is claimed of the result is decided on the programs.
    """
    kind = f"function compiled with {how.backend}"
    with _told() as remarks:
        fast: Any = dispatch(function, spec, lowering=how.lowering, backend=how.backend)
        given = calls if calls is not None else None if example is None else [example]
        try:
            found: Verification = fast.verify(
                given, samples=how.samples, grad=how.grad, tolerance=how.tolerance, seed=how.seed
            )
        except ShapeError as error:
            if error.code == "missing-input":
                raise
            return Verification(spec.name, kind, findings=error.diagnostics)
        try:
            kept = verify(fast, spec, examples=given, raises=False, allow=how.allow)
        except ShapeError:  # every artifact was given up, as the comparison tells
            kept = found
    lowered = fast.lowering.remarks if how.lowering != "unbacked" else ()
    findings = (*kept.findings, *_failed(fast, found, how))
    told = [each for each in remarks if not any(f"[{code}]" in each for code in _SAID)]
    notes = [*told, *lowered, *found.remarks, *kept.remarks]
    unique = tuple(dict.fromkeys(notes))
    return Verification(spec.name, kind, kept.promises, (), found.samples, unique, findings, kept.cures)


def _failed(fast: Any, found: Verification, how: How) -> Iterator[Diagnostic]:
    """Yields which artifacts could not be compiled; those that were compared say themselves what is wrong."""
    compared = {row.label for row in found.samples.rows} if found.samples is not None else set[str]()
    for row in fast.stats()["artifacts"]:
        if row["state"] == "failed" and row["artifact"] not in compared:
            message = f"`{row['artifact']}` of `{found.name}` cannot be compiled with {how.backend}"
            helps = () if how.lowering != "unbacked" else ("try `--lowering backed` or `--lowering auto`",)
            yield Diagnostic("failed-artifact", Severity.ERROR, message, notes=(str(row["reason"]),), helps=helps)


def _artifact(
    program: Any, signatures: Sequence[Signature] | None, calls: Sequence[Call] | None, how: How
) -> Verification:
    """Returns the report of an artifact that somebody made."""
    against = None if how.against is None else callable_at(how.against)
    spec = None
    if signatures is not None or against is not None:
        spec = _spec(against, signatures)
    return _one(program, spec, against, calls, how, case=how.case)


def _one(
    program: Any,
    spec: Spec | None,
    against: Callable[..., Any] | None,
    calls: Iterable[Call] | None,
    how: How,
    *,
    case: str | None = None,
) -> Verification:
    compared: dict[str, Any] = {}
    if against is not None:
        compared = {"samples": how.samples, "grad": how.grad, "tolerance": how.tolerance, "seed": how.seed}
        compared["examples"] = calls
    with _told():
        return verify(program, spec, against, case=case, raises=False, allow=how.allow, **compared)


@contextmanager
def _told() -> Generator[list[str]]:
    """Collects the headlines of our warnings, which become remarks of a report; other ones concern nobody here."""
    from ..diagnostics import ShapeWarning

    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield remarks
    lines = [str(each.message).splitlines() for each in caught if issubclass(each.category, ShapeWarning)]
    for line, *more in lines:
        said = [each.strip().removeprefix("= note: ") for each in more if each.strip().startswith("= note: ")]
        remarks.append("; ".join([line, *said[:1]]))


__all__ = ["EXPORT", "How", "is_file", "verified_at"]
