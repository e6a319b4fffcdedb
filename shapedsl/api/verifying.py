"""`sd.verify`: does an artifact keep what the spec promises, and does it compute what the original does?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from .. import pipeline
from ..diagnostics import Diagnostic, Report, ShapeError
from ..ir import Signature
from ..serving.verifying.report import Verification
from ..targets.tensors import torch_for
from .numbers_given import count, whole
from .sources import as_spec, given_spec
from .spec import Spec, warn
from .verifying_artifacts import Asked, Found, artifacts_of, opened, spec_inside
from .verifying_dispatched import compared_served, tolerance_of

if TYPE_CHECKING:
    from ..ir.expanded import Expanded
    from ..serving.verifying.values import Sampled
    from .sources import SpecLike

Call = tuple[Sequence[Any], Mapping[str, Any]]
_ALLOWED: Final = frozenset({"merged-dims", "specialized-dim", "extra-assumption"})


class VerificationError(ShapeError):
    """An artifact does not keep what the spec promises.

    Attributes:
        report: What was found; ``str()`` of it is a table.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], report: Verification) -> None:
        super().__init__(diagnostics)
        self.report = report


def verify(
    program: Any,
    spec: SpecLike | None = None,
    against: Callable[..., Any] | None = None,
    *,
    case: str | None = None,
    samples: int | None = None,
    grad: bool = False,
    tolerance: float | None = None,
    examples: Iterable[Call] | None = None,
    seed: int = 0,
    raises: bool = True,
    allow: Collection[str] = (),
) -> Verification:
    """Returns what an artifact keeps of a spec, where that is everything.

    Each range, residue, equality and assumption of the spec is *kept*: whatever violates it is refused; or *lost*: the
    artifact accepts sizes that the spec forbids. What the artifact demands beyond the spec, because sizes were merged,
    pinned or bounded while torch traced, is *narrowed*. The return type is proved on the symbolic shapes of the
    results, for all sizes, or refuted with sizes.

    Args:
        program: An ExportedProgram; a graph of `make_fx` (ours, or torch's with symbolic tensors); what `compile`,
            `dispatch`, `export_cases` or ``torch.compile`` returned; an AOTInductor package, loaded or the path of its
            file; or the path of a program or of what `save_artifacts` wrote.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the one that the artifact was made with, if it knows it.
        against: The original. The artifact and it are run on sampled sizes, and what they return is compared.
        case: One alternative instead of the ``where`` part.
        samples: How many calls are compared.
        grad: Whether gradients are compared too.
        tolerance: Relative error that is allowed; by default what rounding does in each dtype.
        examples: Calls to compare as well, each ``(args, kwargs)``; what is static is copied from the first of them. A
            function that was never called is called with it; by default, with inputs made by its spec.
        seed: Of sizes and data.
        raises: Whether a promise that is not kept raises. What is undecided never does: it is a warning.
        allow: Codes of what the artifact may demand beyond the spec: ``merged-dims``, ``specialized-dim``,
            ``extra-assumption``.

    Raises:
        ShapeError: ``lost-assumption``, ``merged-dims``, ``specialized-dim``, ``extra-assumption``, ``return-mismatch``,
            ``wrong-artifact``, ``dtype-mismatch``, ``stale-artifact`` (an older version of the spec made it), with the
            report as ``.report``. Whether or not ``raises`` is set: the spec is wrong, or about another structure than
            the artifact (``rank-mismatch``, ``unknown-parameter``); ``missing-input``: an example is needed.
        TypeError: ``program`` is nothing that can be verified; or an argument is not of its type.
        ValueError: ``samples`` or ``tolerance`` is negative, or no number.

    Example:
        >>> spec = sd.loads("def f(x: Tensor[B, D]) -> Tensor[B]: where B <= 8")["f"]
        >>> program = sd.export(lambda x: x.sum(1), (torch.zeros(4, 3),), spec=spec)
        >>> print(sd.verify(program, spec))
        f: the exported program keeps all 2 promises
          kept  B <= 8
          kept  return.shape[0] == B
          note: dtypes and ranks are not checked by this exported program
    """
    torch_for("verifying")
    allowed = _codes(allow)
    from ..serving.verifying.verified import verified

    calls = tuple(examples or ())
    program = opened(program)
    is_program = hasattr(program, "graph_module") or hasattr(program, "graph")
    called = examples is not None and is_program  # nothing else has to be called to be looked at
    if against is None and (samples is not None or grad or called or tolerance is not None):
        raise TypeError("samples=, grad=, tolerance= and examples= compare values: pass the original as against=")
    samples = None if samples is None else count("samples", samples)
    seed, tolerance = whole("seed", seed), tolerance_of(tolerance)
    found = _selected(_spec_of(program, spec, against), case)
    made = _found(program, Asked(found, expand, calls, seed))
    report = verified(found.name, made.artifacts, allowed)
    remarks = tuple(dict.fromkeys((*made.remarks, *report.remarks)))
    report = replace(report, remarks=remarks, findings=(*report.findings, *made.findings))
    if against is not None:
        how = Compared(against, samples, grad, tolerance, calls, seed)
        report = replace(report, samples=_compared(program, made, how))
    if raises:
        raise_broken(report)
    return report


@dataclass(frozen=True, slots=True)
class Compared:
    """How values are compared; see `verify`."""

    target: Callable[..., Any]
    samples: int | None
    grad: bool
    tolerance: float | None
    examples: tuple[Call, ...]
    seed: int


def _compared(program: Any, made: Found, how: Compared) -> Sampled:
    """Returns how the values of an artifact compare with the original's."""
    from ..serving.exported.programs import positional_names
    from ..serving.verifying.promises import static_sizes
    from ..serving.verifying.structures import Made, sampled_each
    from ..targets.entry.parameters import parameters_of

    artifact = made.artifacts[0]
    dispatcher = getattr(program, "dispatcher", None)
    if dispatcher is not None:
        return compared_served(program, dispatcher, f"the {artifact.kind}", how)
    run: Callable[..., Any] = (
        program if made.run is None else made.run
    )  # a module in torch's wrapper has no truth value
    like: Call | None = None
    if hasattr(program, "graph_module"):
        from ..targets.entry.programs import program_runner

        names = positional_names(parameters_of(how.target, artifact.expanded.signature))
        run = program_runner(program, artifact.kind, names)
        like = program.example_inputs
    structures = [
        Made(
            replace(each.expanded, signature=replace(each.expanded.signature, alternatives=())),
            static_sizes(each),
            each.label,
        )
        for each in made.artifacts
    ]
    return sampled_each(
        f"the {artifact.kind}",
        how.target,
        run,
        structures,
        n=how.samples,
        seed=how.seed,
        grad=how.grad,
        tolerance=how.tolerance,
        examples=how.examples,
        like=None if how.examples else like,
    )


def raise_broken(report: Verification) -> None:
    """Raises what is not kept, and warns of what is undecided.

    Raises:
        ShapeError: Something is not kept.
    """
    diagnostics = report.diagnostics
    if not report.kept:
        raise VerificationError(diagnostics, report)
    undecided = Report()
    for each in diagnostics:
        undecided.add(each)
    warn(undecided)


def _codes(allow: Collection[str]) -> frozenset[str]:
    codes = frozenset((allow,) if isinstance(allow, str) else allow)
    if not codes <= _ALLOWED:
        wrong = ", ".join(sorted(map(str, codes - _ALLOWED)))
        raise TypeError(f"allow= takes codes among {', '.join(sorted(_ALLOWED))}, not {wrong}")
    return codes


def _spec_of(program: Any, spec: SpecLike | None, against: Any) -> Spec:
    """Returns the spec that is given; else the one that the artifact knows, or the original carries."""
    from ..targets.enforced.stated import front_of

    if spec is not None:
        return given_spec(spec, against)
    inside = spec_inside(program)
    if inside is not None:
        return inside
    front = front_of(program)
    return as_spec(None, against if against is not None else program) if front is None else Spec(front.signature)


def _selected(spec: Spec, case: str | None) -> Spec:
    """Returns the spec that the artifact is to keep, found satisfiable."""
    chosen = spec if case is None else Spec(spec.selected(case)[0], spec.diagnostics)
    chosen.normal()
    return chosen


def _found(program: Any, asked: Asked) -> Found:
    """Returns the artifacts that ``program`` is."""
    from ..targets.enforced import enforced_by_program

    made = artifacts_of(program, asked)
    if made is not None:
        return made
    if hasattr(program, "graph_module") or hasattr(program, "graph"):
        return Found((enforced_by_program(program, asked.spec.signature, expand),), None)
    raise TypeError(
        f"verify() takes a program, a graph, a compiled function, a package or a file of them, not {type(program).__name__}"
    )


def expand(signature: Signature, arguments: Mapping[str, Any]) -> Expanded:
    """Returns a spec at the structure of an artifact's inputs, with every variable computable.

    Raises:
        ShapeError: The artifact has another structure than the spec.
    """
    from ..targets.enforced.inputs import is_placeholder

    report = Report()
    known = {param.name for param in signature.params}
    missing = [param for param in signature.params if param.name not in arguments and not param.default]
    for param in missing:
        if param.kind.name.startswith("VAR_"):
            continue
        message = f"the artifact has no parameter `{param.name}`"
        takes = ", ".join(f"`{name}`" for name in arguments if name not in known) or "none besides"
        report.error("unknown-parameter", message, at=param.span, note=f"it takes {takes}")
    report.raise_errors()
    expanded = pipeline.at_structure(signature, arguments, is_placeholder, report)
    report.raise_errors()
    assert expanded is not None  # no errors, so there is one
    solved = pipeline.solve(expanded, report)
    report.raise_errors()
    assert solved is not None
    return solved


__all__ = ["Verification", "VerificationError", "raise_broken", "verify"]
