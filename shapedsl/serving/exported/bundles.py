"""Save and load artifacts: from entries to a file, and back. See `bundle_files` for what the file is."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir.write import write_signature
from ...targets.entry.packages import load_package, machine
from ...targets.entry.programs import program_bytes, program_runner, read_program, tie, torch_version
from .bundle_files import MANIFEST, SPEC, Bundle, open_bundle, write_bundle
from .bundle_manifest import (
    MalformedManifestError,
    Manifest,
    OtherVersionError,
    Saved,
    read_manifest,
    write_manifest,
)
from .exported_cases import ExportedCases
from .programs import Entry, positional_names


@dataclass(frozen=True, slots=True)
class Package:
    """An entry as a package.

    Attributes:
        data: Its bytes.
        entry: The entry, with what the package takes and what runs it.
    """

    data: bytes
    entry: Entry


def save(
    path: str | os.PathLike[str],
    cases: ExportedCases,
    packages: Mapping[str, Package],
    *,
    programs: bool,
) -> None:
    """Writes artifacts into one file, at once.

    Args:
        path: Where to.
        cases: What is saved.
        packages: By the labels of entries.
        programs: Whether programs are written.

    Raises:
        ShapeError: ``no-program``: there is neither for an entry. ``unsupported-by-torch``: something of the
            callable fits into no file.
        OSError: It cannot be written; what was there before still is.
    """
    signature = cases.spec.signature
    files: dict[str, bytes] = {SPEC: (write_signature(signature) + "\n").encode()}
    saved: list[Saved] = []
    for at, entry in enumerate(cases.entries):
        package = packages.get(entry.label)
        kept = entry if package is None else package.entry
        each = Saved(entry.label, entry.structure, entry.position, entry.key, kept.inputs)
        if programs and entry.program is not None:
            each = replace(each, program=f"programs/{at}.pt2")
            files[f"programs/{at}.pt2"] = _program_bytes(entry)
        if package is not None:
            each = replace(each, package=f"packages/{at}.pt2")
            files[f"packages/{at}.pt2"] = package.data
        if each.program is None and each.package is None:
            raise ShapeError([_nothing_to_save(entry)])
        saved.append(each)
    compiled_for = machine() if packages else ("", "")
    manifest = Manifest(
        signature,
        cases.parameters,
        tuple(saved),
        tuple(map(dict, cases.structures)),
        tuple(cases.unpad),
        torch_version(),
        *compiled_for,
    )
    write_bundle(path, write_manifest(manifest), files)


def _program_bytes(entry: Entry) -> bytes:
    try:
        return program_bytes(entry.program)
    except Exception as error:  # torch's serializer knows many reasons
        message = f"torch cannot save the program of `{entry.label}`"
        note = f"{type(error).__name__}: {(str(error).strip() or '?').splitlines()[0]}"[:300]
        raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, notes=(note,))]) from error


def require_programs(entries: Sequence[Entry]) -> None:
    """Raises `ShapeError` (``no-program``) where an entry has no program to compile."""
    for entry in entries:
        if entry.program is None:
            raise ShapeError([_nothing_to_save(entry)])


def _nothing_to_save(entry: Entry) -> Diagnostic:
    return Diagnostic(
        "no-program",
        Severity.ERROR,
        f"there is no program of `{entry.label}` to save",
        notes=("it was loaded from a file that holds packages only",),
        helps=("export the module, and save that",),
    )


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file holds, ready to run.

    Attributes:
        manifest: Its manifest.
        entries: Its artifacts.
        warnings: That it was written elsewhere.
    """

    manifest: Manifest
    entries: tuple[Entry, ...]
    warnings: tuple[Diagnostic, ...]


def load(path: str | os.PathLike[str], module: object = None) -> Loaded:
    """Returns what a file holds.

    Nothing in it is executed but what torch's own loaders execute, and these see an entry when all of the file was
    found to be whole.

    Args:
        path: The file.
        module: What runs alternatives that are eager, if it is a module with the weights of the programs: they share
            them, and its buffers.

    Raises:
        ShapeError: ``damaged-artifacts``; ``unsupported-by-torch``: torch cannot load an entry; ``wrong-artifact``: ``module`` has other weights; ``other-platform``: packages for another kind of machine.
        OSError: There is no such file, or it cannot be read.
    """
    with open_bundle(path) as bundle:
        try:
            manifest = read_manifest(bundle.manifest)
        except OtherVersionError as error:
            _refuse_version(bundle.path, error)
        except MalformedManifestError as error:
            bundle.refuse(f"`{MANIFEST}`", str(error))
        told = tuple(_elsewhere(bundle.path, manifest))
        programs = {each.program: _program(bundle, each.program) for each in manifest.artifacts if each.program}
        differs = tie(programs.values(), module)
        if differs is not None:
            message = f"`{differs}` of the module is not what it is in `{path}`"
            helps = ("load the module's weights first", "or leave `module=` out, where no alternative is eager")
            raise ShapeError([Diagnostic("wrong-artifact", Severity.ERROR, message, helps=helps)])
        names = positional_names(manifest.parameters)
        entries = [_entry(bundle, each, programs, names) for each in manifest.artifacts]
        return Loaded(manifest, tuple(entries), told)


def _program(bundle: Bundle, name: str) -> Any:
    data = bundle.read(name)
    return _guarded(bundle, name, lambda: read_program(io.BytesIO(data)))


def _entry(bundle: Bundle, saved: Saved, programs: Mapping[str, Any], names: Sequence[str]) -> Entry:
    program: Any = None if saved.program is None else programs[saved.program]
    if saved.package is not None:
        data = bundle.read(saved.package)
        run = _guarded(bundle, saved.package, lambda: load_package(data, saved.inputs, saved.label, names))
    else:
        run = _guarded(bundle, saved.program or "", lambda: program_runner(program, saved.label, names))
    return Entry(saved.label, saved.structure, saved.position, saved.key, saved.inputs, run, program)


def _guarded(bundle: Bundle, name: str, load_: Callable[[], Any]) -> Any:
    """Returns what a loader of torch's makes of an entry, which is as it was written.

    Raises:
        ShapeError: ``unsupported-by-torch``, with its error.
    """
    try:
        return load_()
    except Exception as error:
        message = f"torch {torch_version()} cannot load `{name}` of `{bundle.path}`"
        note = f"{type(error).__name__}: {(str(error).strip() or '?').splitlines()[0]}"[:300]
        helps = ("import what registers the classes that it takes or returns, or export and save again here",)
        diagnostic = Diagnostic("unsupported-by-torch", Severity.ERROR, message, notes=(note,), helps=helps)
        raise ShapeError([diagnostic]) from error


def _elsewhere(path: Path, manifest: Manifest) -> Sequence[Diagnostic]:
    """Returns warnings of a file that was written elsewhere.

    Raises:
        ShapeError: ``other-platform``: its packages cannot run here.
    """
    found: list[Diagnostic] = []
    here, instructions = machine()
    if manifest.machine not in ("", here):
        message = f"the packages in `{path}` are for {manifest.machine}, and this is {here}"
        raise ShapeError([Diagnostic("other-platform", Severity.ERROR, message, helps=_HELP)])
    if manifest.torch != torch_version():
        message = f"`{path}` was saved by torch {manifest.torch}, and this is {torch_version()}"
        note = "torch promises no more than that a version reads its own files"
        found.append(Diagnostic("other-platform", Severity.WARNING, message, notes=(note,), helps=_HELP))
    if manifest.machine and manifest.instructions != instructions:
        message = (
            f"the packages in `{path}` use {manifest.instructions} instructions, and this processor has {instructions}"
        )
        found.append(Diagnostic("other-platform", Severity.WARNING, message, helps=_HELP))
    return found


_HELP = ("export and save again here",)


def _refuse_version(path: Path, error: OtherVersionError) -> NoReturn:
    message = f"`{path}` cannot be read: {error}"
    helps = ("load it with the version of shapedsl that saved it, or save the artifacts anew",)
    raise ShapeError([Diagnostic("damaged-artifacts", Severity.ERROR, message, helps=helps)])


__all__ = ["Loaded", "Package", "load", "require_programs", "save"]
