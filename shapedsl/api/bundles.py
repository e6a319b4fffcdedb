"""``sd.export_cases``, ``sd.save_artifacts`` and ``sd.load_artifacts``: a program for each alternative of a spec."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import pipeline
from ..diagnostics import Report, ShapeError
from ..ir import Mode
from ..targets.tensors import torch_for
from .callables import refuse_receiver
from .dispatching import covered
from .entries import allowed_codes, lower_expanded
from .exporting import Exporting
from .lowering import judge_for
from .padding import claimed
from .sources import as_spec
from .spec import Spec, warn

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.nn import Module as TorchModule

    from ..runtime.parameters import Parameter
    from ..serving.dispatch.dispatcher import Dispatcher
    from ..serving.exported.bundle_manifest import Manifest
    from ..serving.exported.bundles import Package
    from ..serving.exported.exported_cases import ExportedCases
    from ..serving.exported.exporting import Export
    from ..serving.exported.programs import Entry
    from ..targets.entry.programs import Call
    from .lowering import LoweringName
    from .sources import SpecLike

Unpad = Mapping[str, Callable[..., Any]]


def export_cases(
    module: Callable[..., Any] | TorchModule,
    spec: SpecLike | None = None,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    verify: bool | Collection[str] = True,
    unpad: Unpad | None = None,
    seed: int = 0,
    lowering: LoweringName = "unbacked",
) -> ExportedCases:
    """Returns ``module`` exported once for each alternative of its spec, behind the choice that `dispatch` makes.

    What is returned is called like the module. Its ``programs`` map what `stats` calls an artifact to the exported
    program; buckets have one for each combination of their members, ``shared`` ones one in all. What runs ``eager``
    runs the module, which is kept.

    A program is made for one structure: what is None, lengths, ranks, dtypes, values of ``const X = _`` and of what the spec
    leaves static are those of the example, and other calls are refused (``no-program``).

    Args:
        module: A module, function, method, partial or callable object.
        spec: A `Spec`, a path, text or a ShapesSpec; by default the annotations of ``module``.
        args: An example; the alternative that takes it is exported with it, others with inputs like it. By default
            all are made by the spec.
        kwargs: Its keyword arguments.
        strict: torch's own flag.
        verify: Whether programs may not promise less than the spec; see `export`.
        unpad: What crops an output that a bucket padded, by its path.
        seed: Of inputs that are made.
        lowering: Of alternatives that do not say ``backed``; see `export`.

    Raises:
        ShapeError: The spec is wrong, the example does not satisfy it, something is static and there is no
            example (``missing-input``), or a program cannot be made or does not keep the spec; see `export`.
        ValueError: There is no such ``lowering``.
    """
    torch_for("exporting")
    judge_for(lowering)
    from ..serving.exported.exported_cases import ExportedCases
    from ..serving.exported.exporting import exports
    from ..serving.exported.programs import ExportedDispatcher, positional_names
    from ..targets.entry.serving import kept

    example = _example(args, kwargs)
    allowed = allowed_codes(verify)
    found = as_spec(spec, module)
    refuse_receiver(found.signature)
    covered(found, strict=False)
    claimed(module, found, strict=False, unpad=unpad)
    asking = asking_of(module, found, unpad)
    entries: list[Entry] = []
    structures: list[Mapping[str, Any]] = []
    names = positional_names(asking.parameters)
    with kept(module):
        for each in exports(asking, example, seed):
            program = exported(module, each, lowering, None if verify is False else allowed, strict=strict)
            entries.append(_entry(each, program, names))
            if each.nesting not in structures:
                structures.append(each.nesting)
    dispatcher = ExportedDispatcher(
        module, asking.parameters, found.signature, entries, name=asking.name, solve=pipeline.solve, unpad=unpad
    )
    return ExportedCases(dispatcher, entries, found, structures)


def save_artifacts(
    path: str | os.PathLike[str],
    cases: ExportedCases,
    *,
    aot: bool = False,
    programs: bool | None = None,
    inductor_configs: Mapping[str, Any] | None = None,
    verify: bool = True,
    samples: int = 6,
    seed: int = 0,
) -> None:
    """Writes exported cases into one file, which `load_artifacts` serves in a process without the module's class.

    The file is replaced at once: whoever reads it meanwhile finds the old one or the new one. It holds a program for
    each artifact, with the weights; or, with ``aot``, an AOTInductor package, which is compiled here and compared
    with the module on sampled sizes of its case before it is written: for networks with convolutions AOTInductor
    computes wrong numbers without a word.

    Alternatives that run ``eager`` are not in the file: it warns of them, and `load_artifacts` takes the module.

    Args:
        path: Where to.
        cases: From `export_cases`.
        aot: Whether to compile packages.
        programs: Whether programs are written; by default, without ``aot``.
        inductor_configs: Inductor's, for packages.
        verify: Whether packages are compared.
        samples: On how many inputs each.
        seed: Of these.

    Raises:
        ShapeError: ``wrong-artifact``: a package computes something else than the module. ``failed-artifact``:
            it cannot be compiled; ``unsupported-by-torch``: it cannot be saved, or takes an int that is dynamic.
        OSError: The file cannot be written; what was there before still is.
    """
    torch_for("saving artifacts")
    from ..serving.exported.bundles import require_programs, save
    from ..serving.exported.exporting import sampled
    from ..targets.entry.packages import packaged_inputs

    if not isinstance(cast("object", cases), _cases_type()):
        raise TypeError(f"save_artifacts() takes what export_cases() returns, not {type(cases).__name__}")
    found: dict[str, Package] = {}
    if aot:
        require_programs(cases.entries)
        asking = _dispatcher(cases.module, cases.parameters, cases.spec, cases.unpad)
        drawn = sampled(asking, cases.entries, samples, seed) if verify else None
        # everything that cannot be packed is refused before the first is compiled
        taken = {each.label: packaged_inputs(each.program, each.label) for each in cases.entries}
        for each in cases.entries:
            entry = replace(each, inputs=taken[each.label])
            calls = None if drawn is None else drawn.get(each.label, ())
            found[each.label] = _package(cases, entry, inductor_configs, calls)
    save(path, cases, found, programs=not aot if programs is None else programs)
    report = Report()
    for name in cases.eager:
        report.warning(
            "no-program",
            f"`{name}` of `{cases.spec.name}` runs the module itself, which is not in `{os.fspath(path)}`",
            help="pass it when the artifacts are loaded: `load_artifacts(path, module=...)`",
        )
    for path_ in cases.unpad:
        report.warning(
            "no-program",
            f"what crops `{path_}` of `{cases.spec.name}` is Python code, which is not in `{os.fspath(path)}`",
            help=f"pass it when the artifacts are loaded: `unpad={{{path_!r}: ...}}`",
        )
    warn(report)


def load_artifacts(
    path: str | os.PathLike[str],
    module: Callable[..., Any] | TorchModule | None = None,
    *,
    unpad: Unpad | None = None,
) -> ExportedCases:
    """Returns what `save_artifacts` wrote, to be called like the module.

    A file that is cut off, changed or extended by a single byte is refused before torch sees any of it. A digest does
    not tell who wrote a file: torch's loaders may unpickle what is in a program, and a package is machine code.
    Load only files that you trust.

    Args:
        path: The file.
        module: What runs alternatives that are ``eager``; only they need it.
        unpad: What crops outputs, for the paths for which it was given when the cases were exported.

    Raises:
        ShapeError: ``damaged-artifacts``, which names the entry; ``unsupported-by-torch``: torch cannot load one; ``other-platform``: packages for another kind of machine.
        TypeError: ``unpad`` is missing, or the module takes other arguments.
        OSError: There is no such file, or it cannot be read.
    """
    torch_for("loading artifacts")
    from ..serving.exported.bundle_files import damaged
    from ..serving.exported.bundles import load
    from ..serving.exported.exported_cases import ExportedCases
    from ..serving.exported.programs import ExportedDispatcher

    loaded = load(path, module)
    manifest = loaded.manifest
    spec = Spec(manifest.signature)
    given = dict(unpad or {})
    if given.keys() != set(manifest.unpad):
        wanted = ", ".join(map(repr, manifest.unpad)) or "none"
        raise TypeError(f"unpad= has to give what crops {wanted}, not {', '.join(map(repr, given)) or 'nothing'}")
    if module is not None:
        _require_alike(module, manifest)
    warn(Report(loaded.warnings))
    dispatcher = ExportedDispatcher(
        module,
        manifest.parameters,
        spec.signature,
        loaded.entries,
        name=spec.name,
        solve=pipeline.solve,
        unpad=given,
    )
    try:
        return ExportedCases(dispatcher, loaded.entries, spec, manifest.structures)
    except Exception as error:  # a manifest that is whole, and whose parts do not fit together
        raise damaged(Path(path), "`manifest.json`", f"a structure of arguments: {error}"[:300]) from error


def _cases_type() -> type[Any]:
    from ..serving.exported.exported_cases import ExportedCases

    return ExportedCases


def _require_alike(module: Any, manifest: Manifest) -> None:
    """Raises `TypeError` if a module does not take what the file is for."""
    from ..runtime.parameters import with_secret_defaults
    from ..targets.entry.parameters import parameters_of

    found = with_secret_defaults(parameters_of(module, manifest.signature), manifest.signature)
    here, there = ([(each.name, each.kind) for each in listed] for listed in (found, manifest.parameters))
    if here != there:
        names = [", ".join(name for name, _ in each) for each in (here, there)]
        raise TypeError(f"module= takes ({names[0]}), and the artifacts ({names[1]})")


def _package(
    cases: ExportedCases, entry: Entry, configs: Mapping[str, Any] | None, calls: Sequence[Call] | None
) -> Package:
    """Returns the package of one artifact, compared with the module on ``calls``; None: not compared.

    Raises:
        ShapeError: See `save_artifacts`.
    """
    from ..serving.exported.bundles import Package
    from ..serving.exported.programs import positional_names
    from ..serving.exported.verifying import compared_package, wrong_package
    from ..targets.entry.packages import compile_package, load_package

    data = compile_package(entry.program, entry.label, configs)
    runner = load_package(data, entry.inputs, entry.label, positional_names(cases.parameters))
    if calls is not None:
        original, signature = cases.module or entry.run, cases.spec.signature
        found = compared_package(entry.label, original, runner, signature, cases.parameters, calls)
        wrong = wrong_package(found, cases.spec.name)
        if wrong is not None:
            raise ShapeError([wrong])
    return Package(data, replace(entry, run=runner))


def _example(
    args: tuple[Any, ...] | None, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Returns the example as a call.

    Raises:
        TypeError: It is none.
    """
    given, named = cast("object", args), cast("object", kwargs)
    if given is not None and not isinstance(given, (tuple, list)):
        raise TypeError(f"args= takes a tuple of example inputs, not {type(given).__name__}; write (example,)")
    if named is not None and not isinstance(named, Mapping):
        raise TypeError(f"kwargs= takes a dict of example inputs, not {type(named).__name__}; pass a spec as spec=")
    return None if args is None and kwargs is None else (tuple(args or ()), dict(kwargs or {}))


def asking_of(module: Any, spec: Spec, unpad: Unpad | None) -> Dispatcher:
    """Returns a dispatcher that tells what calls are, and runs nothing."""
    from ..runtime.parameters import with_secret_defaults
    from ..targets.entry.parameters import parameters_of

    signature = spec.signature
    return _dispatcher(module, with_secret_defaults(parameters_of(module, signature), signature), spec, unpad)


def _dispatcher(module: Any, parameters: Sequence[Parameter], spec: Spec, unpad: Unpad | None) -> Dispatcher:
    from ..serving.dispatch.dispatcher import Dispatcher
    from ..serving.exported.exporting import Nothing

    return Dispatcher(module, parameters, spec.signature, Nothing(), name=spec.name, solve=pipeline.solve, unpad=unpad)


def exported(
    module: Any, each: Export, lowering: str, allowed: Collection[str] | None, *, strict: bool
) -> ExportedProgram:
    """Returns the program of one artifact.

    Args:
        module: What is exported.
        each: Which artifact.
        lowering: How, unless its alternative says ``backed``.
        allowed: Codes of what a program may demand beyond its spec; None if that is not looked at.
        strict: torch's own flag.

    Raises:
        ShapeError: It cannot be made, or does not keep the spec; see `export`.
    """

    def compare(program: ExportedProgram) -> None:
        if allowed is not None:
            report = Report()
            pipeline.compare_program(program, lowered, report, allowed)
            report.raise_errors()
            warn(report)

    try:
        lowered = lower_expanded(each.at, each.statics, True)
        exporting = Exporting(module, each.calls[0], lowered, strict, compare)
        return exporting.program("backed" if each.spec.mode is Mode.BACKED else lowering)
    except ShapeError as error:
        raise _of_artifact(error, each) from error.__cause__


def _of_artifact(error: ShapeError, each: Export) -> ShapeError:
    note = f"while `{each.label}` was exported"
    return type(error)([replace(d, notes=(*d.notes, note)) for d in error.diagnostics])


def _entry(each: Export, program: ExportedProgram, names: Sequence[str]) -> Entry:
    from ..serving.exported.programs import Entry
    from ..targets.entry.program_inputs import inputs_of
    from ..targets.entry.programs import program_runner

    runner = program_runner(program, each.label, names)
    return Entry(each.label, each.structure, each.spec.position, each.key, inputs_of(program), runner, program=program)


__all__ = ["asking_of", "export_cases", "exported", "load_artifacts", "save_artifacts"]
