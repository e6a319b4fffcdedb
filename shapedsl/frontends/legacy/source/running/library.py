"""Names of other modules that the interpreter knows."""

from __future__ import annotations

import builtins
import math
from typing import Final

BUILTINS: Final = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {"__import__"}

# What may be imported under several names.
_SAME: Final = {
    "torch.export.dynamic_shapes.": "torch.export.",
    "torch._export.": "torch.export.",
    "torch.utils._sympy.numbers.": "torch.",
}
_RENAMED: Final = {
    "torch.export._Dim": "torch.export.Dim",
    "torch.export._ShapesCollection": "torch.export.ShapesCollection",
}

CONSTANTS: Final[dict[str, object]] = {
    "math.inf": math.inf,
    "math.pi": math.pi,
    "torch.inf": math.inf,
    "torch.int_oo": math.inf,
    "numpy.inf": math.inf,
    "sys.maxsize": 2**63 - 1,
    "typing.TYPE_CHECKING": False,
    "typing_extensions.TYPE_CHECKING": False,
}

# What `from … import *` of these binds.
STARS: Final = {
    "torch.export": [
        "AdditionalInputs",
        "Constraint",
        "CustomDecompTable",
        "default_decompositions",
        "Dim",
        "dims",
        "draft_export",
        "export",
        "ExportBackwardSignature",
        "ExportedProgram",
        "ExportGraphSignature",
        "FlatArgsAdapter",
        "load",
        "ModuleCallEntry",
        "ModuleCallSignature",
        "register_dataclass",
        "save",
        "ShapesCollection",
        "unflatten",
        "UnflattenedModule",
    ],
    "torch.export.dynamic_shapes": [
        "Constraint",
        "Dim",
        "dims",
        "refine_dynamic_shapes_from_suggested_fixes",
        "AdditionalInputs",
    ],
}

# Modules whose functions neither keep nor change the containers that they are given.
_HARMLESS: Final = frozenset(
    [
        "torch",
        "math",
        "numpy",
        "copy",
        "logging",
        "json",
        "pprint",
        "warnings",
        "typing",
        "typing_extensions",
        "sys",
        "os",
        "time",
        "re",
        "pathlib",
        "tempfile",
        "collections",
        "dataclasses",
        "functools",
        "itertools",
        "operator",
        "unittest",
        "pytest",
        "random",
        "string",
        "textwrap",
        "torch_tensorrt",
        "onnx",
        "onnxruntime",
        "argparse",
        "enum",
        "abc",
        "contextlib",
        "gc",
        "inspect",
        "platform",
        "shutil",
        "io",
        "datetime",
        "tqdm",
        "torchvision",
        "transformers",
        "diffusers",
        "timm",
    ]
)
_HARMFUL: Final = frozenset(["random.shuffle", "operator.setitem", "operator.delitem", "operator.ior", "operator.iadd"])
HARMLESS_BUILTINS: Final = frozenset(
    [
        "print",
        "len",
        "repr",
        "str",
        "isinstance",
        "issubclass",
        "type",
        "id",
        "int",
        "float",
        "bool",
        "min",
        "max",
        "sum",
        "abs",
        "any",
        "all",
        "sorted",
        "reversed",
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "range",
        "enumerate",
        "zip",
        "hasattr",
        "callable",
        "format",
        "hash",
        "round",
        "divmod",
        "pow",
        "super",
        "input",
        "open",
        "iter",
        "slice",
        "bytes",
        "ord",
        "chr",
        "getattr",
        "vars",
        "dir",
        "map",
        "filter",
        "object",
        "property",
        "staticmethod",
        "classmethod",
        "Exception",
        "ValueError",
        "TypeError",
        "RuntimeError",
        "KeyError",
        "AssertionError",
        "NotImplementedError",
        "ImportError",
    ]
)


def canonical(name: str) -> str:
    """Returns the usual name of what may be imported under several: ``torch.export.dynamic_shapes.Dim``."""
    for prefix, usual in _SAME.items():
        if name.startswith(prefix):
            name = usual + name[len(prefix) :]
    return _RENAMED.get(name, name)


def is_harmless(name: str) -> bool:
    """Whether a call of a name neither keeps nor changes the containers that it is given."""
    if name in _HARMFUL:
        return False
    head, _, rest = name.partition(".")
    return rest in HARMLESS_BUILTINS if head == "builtins" else head in _HARMLESS


__all__ = ["BUILTINS", "CONSTANTS", "STARS", "canonical", "is_harmless"]
