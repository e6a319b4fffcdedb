"""A language for tensor shapes: one spec, obeyed by ``torch.compile``, ``torch.export`` and ``make_fx``.

Importing this package loads none of lark, sympy or torch; each public name is loaded when it is first used.

Example:
    >>> import shapedsl as sd
    >>> spec = sd.loads("def f(x: Tensor[B, D]): where B < 32")["f"]
    >>> print(spec.normalize())
    def f(x: Tensor[B, D]):
        dim B in [0, 31]
"""

from __future__ import annotations

__version__ = "0.1.0"

# public name -> the module that defines it
_EXPORTS = {
    "Scalar": "annotations",
    "Shape": "annotations",
    "Tensor": "annotations",
    "shapes": "annotations",
    "where": "annotations",
    "ShapeError": "diagnostics",
    "ShapeWarning": "diagnostics",
    "Answer": "api",
    "Change": "api",
    "Comparison": "api",
    "Converted": "api",
    "Cured": "api",
    "FileComparison": "api",
    "Profile": "api",
    "SizeRange": "api",
    "Spec": "api",
    "SpecFile": "api",
    "Suggestion": "api",
    "Verification": "api",
    "attach": "api",
    "check_padding": "api",
    "compare": "api",
    "compile": "api",
    "cure": "api",
    "dispatch": "api",
    "explain_error": "api",
    "export": "api",
    "export_cases": "api",
    "from_dims": "api",
    "from_exported": "api",
    "from_json": "api",
    "from_stub": "api",
    "from_torch": "api",
    "install_import_hook": "import_hook",
    "load": "api",
    "load_artifacts": "api",
    "loads": "api",
    "make_fx": "api",
    "observe": "api",
    "save_artifacts": "api",
    "spec_of": "api",
    "stub_for": "api",
    "suggest": "api",
    "verify": "api",
}

__all__ = [*_EXPORTS, "__version__"]  # noqa: PLE0604 - names, once unpacked  # pyright: ignore[reportUnsupportedDunderAll]

TYPE_CHECKING = False  # typing's flag, without importing typing
if TYPE_CHECKING:
    from . import strategies as strategies
    from .annotations import Scalar as Scalar
    from .annotations import Shape as Shape
    from .annotations import Tensor as Tensor
    from .annotations import shapes as shapes
    from .annotations import where as where
    from .api import Answer as Answer
    from .api import Change as Change
    from .api import Comparison as Comparison
    from .api import Converted as Converted
    from .api import Cured as Cured
    from .api import FileComparison as FileComparison
    from .api import Profile as Profile
    from .api import SizeRange as SizeRange
    from .api import Spec as Spec
    from .api import SpecFile as SpecFile
    from .api import Suggestion as Suggestion
    from .api import Verification as Verification
    from .api import attach as attach
    from .api import check_padding as check_padding
    from .api import compare as compare
    from .api import compile as compile
    from .api import cure as cure
    from .api import dispatch as dispatch
    from .api import explain_error as explain_error
    from .api import export as export
    from .api import export_cases as export_cases
    from .api import from_dims as from_dims
    from .api import from_exported as from_exported
    from .api import from_json as from_json
    from .api import from_stub as from_stub
    from .api import from_torch as from_torch
    from .api import load as load
    from .api import load_artifacts as load_artifacts
    from .api import loads as loads
    from .api import make_fx as make_fx
    from .api import observe as observe
    from .api import save_artifacts as save_artifacts
    from .api import spec_of as spec_of
    from .api import stub_for as stub_for
    from .api import suggest as suggest
    from .api import verify as verify
    from .diagnostics import ShapeError as ShapeError
    from .diagnostics import ShapeWarning as ShapeWarning
    from .import_hook import install_import_hook as install_import_hook
else:  # a type checker that saw this would take any name for good

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "strategies":  # of an extra; `dir` and `*` leave it out
            return import_module(f"{__name__}.strategies")
        module = _EXPORTS.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{module}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
