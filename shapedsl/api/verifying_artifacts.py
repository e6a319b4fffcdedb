"""What `verify` finds in artifacts that are no programs: compiled functions, packages, and files of them.

A compiled function is asked what torch holds for it; if it was never called, it is called once, on inputs made by its
spec. What stands behind shapedsl's own check accepts what that accepts: so the spec that it was made with is compared
with the one that it is to keep.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import AnyType, Signature, VariableKind
from .comparing import compare
from .sources import as_spec
from .spec import Spec
from .verifying_calls import Example, made_for

if TYPE_CHECKING:
    from ..ir.expanded import Expanded
    from ..serving.exported.exported_cases import ExportedCases
    from ..serving.exported.programs import ExportedDispatcher
    from ..targets.enforced import Enforced
    from ..targets.enforced.held import Held

Call = tuple[Sequence[Any], Mapping[str, Any]]
Expand = Callable[[Signature, Mapping[str, Any]], "Expanded"]


@dataclass(frozen=True, slots=True)
class Found:
    """The artifacts that something is.

    Attributes:
        artifacts: What each makes of its inputs.
        run: What is called like the original; None where nothing is.
        findings: What is said of all of them.
        remarks: What is said besides.
    """

    artifacts: tuple[Enforced, ...]
    run: Callable[..., Any] | None
    findings: tuple[Diagnostic, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of artifacts.

    Attributes:
        spec: What they are to keep.
        expand: Gives a spec at the structure of inputs.
        examples: Calls; the first one is made if something has to be called.
        seed: Of inputs that are made.
    """

    spec: Spec
    expand: Expand
    examples: tuple[Call, ...] = ()
    seed: int = 0


def opened(program: Any) -> Any:
    """Returns what is in a file: a program, or the artifacts of `save_artifacts`; a package stays a path.

    Raises:
        ShapeError: ``damaged-artifacts``, or ``unreadable-file``: it is something else.
        OSError: There is no such file.
    """
    if not isinstance(program, (str, os.PathLike)):
        return program
    from ..serving.exported.bundle_files import MANIFEST
    from ..targets.enforced.packages import is_package

    path = Path(cast("str | os.PathLike[str]", program))
    if not path.exists():
        raise FileNotFoundError(f"there is no file `{path}`")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        names = []
    if MANIFEST in names:
        from .bundles import load_artifacts

        return _File(path, load_artifacts(path))
    if is_package(path):
        return path
    if not names:
        raise _no_artifact(path)
    from ..targets.entry.programs import read_program

    with path.open("rb") as file:
        try:
            return read_program(file)
        except Exception as error:  # torch says in many ways that it is no program
            said = next((row for row in str(error).splitlines() if row.strip()), "")
            raise _no_artifact(path, f"{type(error).__name__}: {said}") from error


def _no_artifact(path: Path, *notes: str) -> ShapeError:
    message = f"`{path}` is no exported program, no AOTInductor package, and no file of `sd.save_artifacts`"
    helps = (f"name an object of a module: `{path.stem}:NAME`",) if path.suffix == ".py" else ()
    return ShapeError([Diagnostic("unreadable-file", Severity.ERROR, message, notes=notes, helps=helps)])


@dataclass(frozen=True, slots=True)
class _File:
    """What `save_artifacts` wrote."""

    path: Path
    cases: ExportedCases

    @property
    def dispatcher(self) -> ExportedDispatcher:
        """What chooses among the artifacts."""
        return self.cases.dispatcher

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the artifact of these sizes returns."""
        return self.cases(*args, **kwargs)


def spec_inside(program: Any) -> Spec | None:
    """Returns the spec that artifacts were made with, where they know it."""
    cases = _cases_of(program)
    if cases is not None:
        return cast("Spec", cases.spec)
    front = _front(program)
    if hasattr(front, "dispatcher"):
        return cast("Spec", front.spec)
    signature = getattr(front, "signature", None)
    return Spec(signature) if isinstance(signature, Signature) else None


def artifacts_of(program: Any, asked: Asked) -> Found | None:
    """Returns what ``program`` is made of; None if it is no artifact.

    Args:
        program: What `opened` returned.
        asked: What is asked of it.

    Raises:
        ShapeError: See `verify`; ``missing-input``: it was never called, and only an example can tell what is static.
    """
    from ..targets.enforced.packages import enforced_by_package, is_package
    from ..targets.enforced.torch_compiled import is_torch_compiled
    from ..targets.entry.packages import package_runner
    from ..targets.entry.serving import kept

    cases = _cases_of(program)
    if cases is not None:
        return _of_cases(cases, program.path if isinstance(program, _File) else None, asked)
    front = _front(program)
    if hasattr(front, "dispatcher"):
        with kept(program):
            return _of_dispatch(program, front, asked)
    if _is_ours(front):
        with kept(program):
            return _of_compiled(program, front, asked)
    if is_package(program):
        enforced = enforced_by_package(program, asked.spec.signature, asked.expand)
        return Found((enforced,), package_runner(program))
    if callable(program) and is_torch_compiled(program):
        with kept(program):
            return _of_torch(program, asked)
    return None


def _cases_of(program: Any) -> ExportedCases | None:
    from ..serving.exported.exported_cases import ExportedCases

    if isinstance(program, _File):
        return program.cases
    return program if isinstance(program, ExportedCases) else None


def _front(program: Any) -> Any:
    """Returns the function in front of a compiled module; anything else as it is."""
    held: Any = getattr(program, "__dict__", {})
    return held.get("_forward", held.get("forward", program)) if hasattr(program, "_orig_mod") else program


def _is_ours(front: Any) -> bool:
    from ..targets.entry.artifacts import Artifacts

    return isinstance(getattr(front, "artifacts", None), Artifacts)


# ------------------------------------------------------------------------------- compiled functions


def _of_compiled(program: Any, front: Any, asked: Asked) -> Found:
    """Returns the artifacts of what `compile` returned."""
    from ..targets.enforced.compiled import enforced_by_compiled
    from ..targets.enforced.seen import stand_ins

    own: Signature = front.signature
    example = Example(Spec(own), asked.examples, asked.seed)
    if not any(each.held() for each in front.artifacts.made):
        example.run(program)
    found: list[Enforced] = []
    bound: tuple[Any, ...] = getattr(front, "args", ())  # of a partial: the object whose attributes the spec names
    for made in list(front.artifacts.made):
        held = made.held()
        if held is None or held.own is None:
            continue
        at = held.own
        if own != asked.spec.signature:
            at = asked.expand(replace(asked.spec.signature, alternatives=()), stand_ins(held.own))
        calls = example.calls() if has_claims(asked.spec) else ()
        found += enforced_by_compiled(held, at, [_entered(held, ((*bound, *args), kwargs)) for args, kwargs in calls])
    if not found:
        raise _nothing(program)
    return Found(_numbered(found), program, (), example.remarks)


def _entered(held: Held, call: Call) -> Call:
    """Returns a call as the compiled function sees it: some ints are shifted."""
    from ..targets.enforced.returned import bound_by

    bound = bound_by(held.function, call) if held.offsets else None
    if bound is None:
        return call
    shifted = {held.spelled.get(name, name): offset for name, offset in held.offsets.items()}
    names = [each for each in held.function.__code__.co_varnames if each in bound]
    return (), {name: bound[name] + shifted.get(name, 0) if name in shifted else bound[name] for name in names}


def _of_torch(program: Any, asked: Asked) -> Found:
    """Returns the graphs of what `torch.compile` returned."""
    from ..targets.enforced.compiled import enforced_by_compiled
    from ..targets.enforced.seen import arguments_seen
    from ..targets.enforced.torch_compiled import torch_compiled

    made = torch_compiled(program)
    example = Example(asked.spec, asked.examples, asked.seed)
    if not any(held.graphs() for held, _ in made.held):
        example.run(program)
    calls = example.required()
    arguments = arguments_seen(made.original, calls[0])
    expanded = asked.expand(replace(asked.spec.signature, alternatives=()), arguments)
    declared: Expanded | None = None
    if made.shapes is not None:
        with suppress(ShapeError):  # it may speak of what the call does not have
            declared = asked.expand(as_spec(made.shapes).signature, arguments)
    found: list[Enforced] = []
    for held, before in made.held:
        needed = calls if has_claims(asked.spec) or held.chosen else ()
        entered: list[Call] = [((*before, *args), kwargs) for args, kwargs in needed]
        found += enforced_by_compiled(replace(held, declared=declared), expanded, entered)
    if not found:
        raise _nothing(program)
    return Found(_numbered(found), program, (), example.remarks)


def _numbered(found: Sequence[Enforced]) -> tuple[Enforced, ...]:
    """Returns artifacts with labels, where there are several."""
    if len(found) == 1:
        return (found[0],)
    return tuple(replace(each, label=each.label or f"artifact {at}") for at, each in enumerate(found, 1))


def has_claims(spec: Spec) -> bool:
    """Returns whether a spec says something of the result."""
    claimed = spec.signature.returns
    return claimed is not None and not isinstance(claimed, AnyType)


def _nothing(program: Any) -> ShapeError:
    name = getattr(program, "__name__", type(program).__name__)
    message = f"torch holds no graph of `{name}`"
    notes = ("it was compiled with `disable=True`, or torch ran it without compiling",)
    return ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, notes=notes)])


# ------------------------------------------------------------------------------- behind a choice


def _of_dispatch(program: Any, front: Any, asked: Asked) -> Found:
    """Returns the artifacts of what `dispatch` returned, as far as they were made; if none was, one is."""
    from ..serving.verifying.served import enforced_by_dispatch, enforced_in_front
    from ..targets.enforced.seen import stand_ins

    dispatcher, own = front.dispatcher, cast("Spec", front.spec)
    claims = asked.spec.signature.returns
    example = Example(own, asked.examples, asked.seed)

    def draw(signature: Signature, values: Mapping[str, Any]) -> list[Call]:
        """Returns calls of one artifact, whose sizes are padded where it pads."""
        consts = {each.name for each in signature.variables if each.kind is VariableKind.CONST}
        sizes = {name: value for name, value in values.items() if name in consts}
        with suppress(ShapeError, TypeError):
            return made_for(Spec(signature), sizes, asked.seed)
        return []

    found = list(enforced_by_dispatch(dispatcher, claims, draw))
    if not found:
        example.run(program)
        found = list(enforced_by_dispatch(dispatcher, claims, draw))
    stale = _stale(own, asked.spec)
    if stale:
        structures = [each.expanded for each in dispatcher.structures.values()]
        found[:0] = [
            enforced_in_front(asked.spec.signature, stand_ins(at), asked.expand, own.signature) for at in structures
        ]
    if not found:
        message = f"no alternative of `{own.name}` was compiled: what ran is the original"
        raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message)])
    return Found(_numbered(found), program, stale, example.remarks)


def _of_cases(cases: ExportedCases, path: Path | None, asked: Asked) -> Found:
    """Returns the programs or packages of what `export_cases` or `load_artifacts` returned."""
    from ..serving.verifying.served import enforced_by_cases, enforced_in_front
    from ..targets.enforced.seen import stand_ins

    own = cast("Spec", cases.spec)
    stale = _stale(own, asked.spec)
    found = list(enforced_by_cases(cases, asked.expand, _sources(path), asked.spec.signature.returns))
    if stale:
        structures = [each.expanded for each in cases.dispatcher.structures.values()]
        found[:0] = [
            enforced_in_front(asked.spec.signature, stand_ins(at), asked.expand, own.signature) for at in structures
        ]
    return Found(_numbered(found), cases, stale)


def _sources(path: Path | None) -> dict[str, str]:
    """Returns the C++ of the packages in a file, by the labels of artifacts."""
    if path is None:
        return {}
    from ..serving.exported.bundle_files import open_bundle
    from ..serving.exported.bundle_manifest import read_manifest
    from ..targets.enforced.packages import archived

    with open_bundle(path) as bundle:
        manifest = read_manifest(bundle.manifest)
        packages = {each.label: bundle.read(each.package) for each in manifest.artifacts if each.package is not None}
    return {label: archived(io.BytesIO(data), label) for label, data in packages.items()}


def _stale(own: Spec, spec: Spec) -> tuple[Diagnostic, ...]:
    """Returns that artifacts were made with another spec, with what changed since."""
    if own.signature == spec.signature:
        return ()
    found = compare(own, spec)
    if found.relation == "equal" and not found.changes:
        return ()
    message = f"the artifacts of `{own.name}` were made with another version of its spec"
    notes = [each.message for each in found.changes[:_MOST_CHANGES]] or list(found.reasons[:_MOST_CHANGES])
    if len(found.changes) > _MOST_CHANGES:
        notes.append(f"and {len(found.changes) - _MOST_CHANGES} more changes")
    severity = Severity.WARNING if found.relation == "equal" else Severity.ERROR
    helps = ("export and save them again with this spec",)
    witness = tuple(sorted(found.witness.items()))
    return (Diagnostic("stale-artifact", severity, message, notes=tuple(notes), helps=helps, witness=witness),)


_MOST_CHANGES: Final = 6


__all__ = ["Asked", "Found", "artifacts_of", "has_claims", "opened", "spec_inside"]
