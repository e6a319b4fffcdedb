"""What ``manifest.json`` says of artifacts, as text that is checked field by field when it is read.

After, for one program::

    {"shapedsl artifacts": 1, "torch": "2.14.1", "name": "f", "spec": {…},
     "parameters": [{"name": "x", "kind": "positional or keyword"}],
     "artifacts": [{"label": "case one", "structure": "…", "position": 0, "key": [],
                    "inputs": [{"dtype": "float32", "device": "cpu", "shape": [1, 4]}],
                    "program": "programs/0.pt2"}]}
"""

# What a JSON document holds is unknown until it has been looked at, which is all that this module does.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import ParamKind, Signature
from ...ir.json import MalformedJsonError, from_json, to_json
from ...runtime.parameters import OMITTED, REQUIRED, Parameter
from ...targets.entry.program_inputs import ConstantInput, Input, IntInput, TensorInput

FORMAT: Final = "shapedsl artifacts"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Saved:
    """One artifact in a file.

    Attributes:
        label, structure, position, key, inputs: See `exported.Entry`.
        program: The entry of the exported program; None if it was left out.
        package: The entry of the AOTInductor package, likewise.
    """

    label: str
    structure: str
    position: int
    key: tuple[int | None, ...]
    inputs: tuple[Input, ...]
    program: str | None = None
    package: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a file holds.

    Attributes:
        signature: The spec.
        parameters: Of the callable.
        artifacts: In the order in which they were exported.
        structures: Of arguments, for which there are artifacts; see `saved_structures`.
        unpad: Paths of outputs that Python code crops.
        torch: The version that wrote it.
        machine: For what its packages were compiled; empty without packages.
        instructions: What their code uses.
    """

    signature: Signature
    parameters: tuple[Parameter, ...]
    artifacts: tuple[Saved, ...]
    structures: tuple[dict[str, Any], ...]
    unpad: tuple[str, ...]
    torch: str
    machine: str = ""
    instructions: str = ""


class MalformedManifestError(ValueError):
    """A manifest does not say what it should; the message says what is missing."""


class OtherVersionError(ValueError):
    """A manifest is of another version."""


# ----------------------------------------------------------------------------------------- writing


def write_manifest(manifest: Manifest) -> dict[str, Any]:
    """Returns a manifest as JSON.

    Raises:
        ShapeError: ``unsupported-by-torch``: a default that JSON cannot hold.
    """
    return {
        FORMAT: VERSION,
        "torch": manifest.torch,
        **({"machine": [manifest.machine, manifest.instructions]} if manifest.machine else {}),
        "spec": json.loads(to_json(manifest.signature)),
        "parameters": [_written_parameter(each) for each in manifest.parameters],
        "unpad": list(manifest.unpad),
        "structures": list(manifest.structures),
        "artifacts": [_written_artifact(each) for each in manifest.artifacts],
    }


def _written_parameter(parameter: Parameter) -> dict[str, Any]:
    written: dict[str, Any] = {"name": parameter.name, "kind": parameter.kind.name}
    default = parameter.default
    if default is OMITTED:
        written["omitted"] = True
    elif default is not REQUIRED:
        if not _is_constant(default):
            message = f"the default of `{parameter.name}` is a {type(default).__name__}, which a file cannot hold"
            helps = (f"export a function without `{parameter.name}`, or give it a default of numbers, text and None",)
            raise ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=helps)])
        written["default"] = _written_constant(default)
    return written


def _written_artifact(saved: Saved) -> dict[str, Any]:
    return {
        "label": saved.label,
        "structure": saved.structure,
        "position": saved.position,
        "key": list(saved.key),
        "inputs": [_written_input(each) for each in saved.inputs],
        **({"program": saved.program} if saved.program else {}),
        **({"package": saved.package} if saved.package else {}),
    }


def _written_input(each: Input) -> dict[str, Any]:
    match each:
        case TensorInput():
            written: dict[str, Any] = {"dtype": each.dtype, "device": each.device, "shape": list(each.shape)}
            return {**written, "written": True} if each.written else written
        case IntInput():
            return {"int": True}
        case ConstantInput(value=value):
            return {"value": _written_constant(value)}


def _is_constant(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_constant, value))
    return value is None or type(value) in (bool, int, float, str)


def _written_constant(value: Any) -> Any:
    """Returns a constant as JSON; of a float exactly the bits, NaN and infinities too."""
    if type(value) in (tuple, list):
        return {type(value).__name__: list(map(_written_constant, value))}
    return {"float": value.hex()} if isinstance(value, float) else value


# ----------------------------------------------------------------------------------------- reading


def read_manifest(found: dict[str, Any]) -> Manifest:
    """Returns what a manifest says.

    Raises:
        MalformedManifestError: It does not say what it should.
        OtherVersionError: It is of another version.
    """
    version = found.get(FORMAT)
    if version is None:
        raise MalformedManifestError(f"it has no {FORMAT!r}")
    if type(version) is not int or version != VERSION:
        raise OtherVersionError(f"it is of version {version!r:.40}; this reader knows version {VERSION}")
    machine = _list(found.get("machine", ["", ""]), "machine", _text)
    if len(machine) != 2:
        raise MalformedManifestError("`machine` is no pair")
    artifacts = _list(found.get("artifacts"), "artifacts", _read_artifact)
    signature = _read_signature(found.get("spec"))
    for each in artifacts:
        if not 0 <= each.position < max(1, len(signature.alternatives)):
            raise MalformedManifestError(f"`{each.label}` is of alternative {each.position}, which the spec lacks")
    parameters = _list(found.get("parameters"), "parameters", _read_parameter)
    _require_callable(parameters)
    names = [(each.structure, each.position, each.key) for each in artifacts]
    if len(set(names)) < len(names) or len({each.label for each in artifacts}) < len(names):
        raise MalformedManifestError("two artifacts are for the same")
    return Manifest(
        signature,
        tuple(parameters),
        tuple(artifacts),
        tuple(_list(found.get("structures"), "structures", _object)),
        tuple(_list(found.get("unpad"), "unpad", _text)),
        _text(found.get("torch"), "torch"),
        *machine,
    )


def _read_signature(found: Any) -> Signature:
    try:
        read = from_json(json.dumps(found))
    except (MalformedJsonError, RecursionError) as error:
        raise MalformedManifestError(f"`spec`: {error}"[:300]) from None
    if not isinstance(read, Signature):
        raise MalformedManifestError("`spec` is no spec of one callable")
    return read


def _read_parameter(found: Any, where: str) -> Parameter:
    fields = _object(found, where)
    name, kind = _text(fields.get("name"), f"{where}.name"), fields.get("kind")
    if not name.isidentifier() or not isinstance(kind, str) or kind not in ParamKind.__members__:
        raise MalformedManifestError(f"`{where}` is no parameter")
    default: object = REQUIRED
    if fields.get("omitted") is True:
        default = OMITTED
    elif "default" in fields:
        default = _read_default(fields["default"], f"{where}.default")
    return Parameter(name, ParamKind[kind], default)


def _require_callable(parameters: Sequence[Parameter]) -> None:
    """Refuses parameters that no callable has: two of one name, or a required one behind an optional one."""
    try:
        inspect.Signature(
            [
                inspect.Parameter(
                    each.spelled,
                    getattr(inspect.Parameter, each.kind.name),
                    default=inspect.Parameter.empty if each.default is REQUIRED else None,
                )
                for each in parameters
            ]
        )
    except ValueError as error:
        raise MalformedManifestError(f"`parameters`: {error}") from None


def _read_artifact(found: Any, where: str) -> Saved:
    fields = _object(found, where)
    names = [fields.get("program"), fields.get("package")]
    if not any(isinstance(name, str) for name in names):
        raise MalformedManifestError(f"`{where}` has neither a program nor a package")
    position = fields.get("position")
    if type(position) is not int:
        raise MalformedManifestError(f"`{where}.position` is no int")
    return Saved(
        _text(fields.get("label"), f"{where}.label"),
        _text(fields.get("structure"), f"{where}.structure"),
        position,
        tuple(_list(fields.get("key"), f"{where}.key", _int_or_none)),
        tuple(_list(fields.get("inputs"), f"{where}.inputs", _read_input)),
        *(None if name is None else _text(name, where) for name in names),
    )


def _read_input(found: Any, where: str) -> Input:
    fields = _object(found, where)
    if fields.get("int") is True:
        return IntInput()
    if "value" in fields:
        return ConstantInput(_read_constant(fields["value"], where))
    return TensorInput(
        _text(fields.get("dtype"), f"{where}.dtype"),
        _text(fields.get("device"), f"{where}.device"),
        tuple(_list(fields.get("shape"), f"{where}.shape", _int_or_none)),
        fields.get("written") is True,
    )


def _read_default(found: Any, where: str) -> object:
    for kind in (tuple, list):
        if isinstance(found, dict) and found.keys() == {kind.__name__}:
            return kind(_list(found[kind.__name__], where, _read_default))
    return _read_constant(found, where)


def _read_constant(found: Any, where: str) -> bool | int | float | str | None:
    if isinstance(found, dict):
        try:
            return float.fromhex(_text(found.get("float"), where))
        except (ValueError, OverflowError):
            raise MalformedManifestError(f"`{where}` is no float") from None
    if found is None or type(found) in (bool, int, str):
        constant: bool | int | str | None = found
        return constant
    raise MalformedManifestError(f"`{where}` is no constant")


def _object(found: Any, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise MalformedManifestError(f"`{where}` is no object")
    return found


def _list(found: Any, where: str, read: Callable[[Any, str], Any]) -> list[Any]:
    if not isinstance(found, list):
        raise MalformedManifestError(f"`{where}` is no list")
    return [read(each, f"{where}[{at}]") for at, each in enumerate(found)]


def _text(found: Any, where: str) -> str:
    if not isinstance(found, str):
        raise MalformedManifestError(f"`{where}` is no text")
    return found


def _int_or_none(found: Any, where: str) -> int | None:
    if found is None or type(found) is int:
        number: int | None = found
        return number
    raise MalformedManifestError(f"`{where}` is no int")


__all__ = [
    "FORMAT",
    "VERSION",
    "MalformedManifestError",
    "Manifest",
    "OtherVersionError",
    "Saved",
    "read_manifest",
    "write_manifest",
]
