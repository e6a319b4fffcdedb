"""Check every call of a package, without touching its source: `install_import_hook`, and ``pytest --shapedsl-check``.

While a module of the package is loaded, each of its functions that may speak of shapes gets one more decorator.

Before::

    @shapes("where B < 32")
    def project(x: Tensor[B, D]): ...

After::

    @__shapedsl_check__
    @shapes("where B < 32")
    def project(x: Tensor[B, D]): ...

It stands above what says something of shapes, to hear all of it, and below everything else, since other decorators may
give back anything. No line moves: tracebacks, breakpoints and coverage are those of the source. What was compiled this
way is never written to a ``.pyc`` file, nor is one read.
"""

from __future__ import annotations

import ast
import builtins
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeVar, cast

from .checked import checked, is_tracing
from .surface.forms import Form

Target = TypeVar("Target")
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef)

# The one name of ours in a module. Its end keeps Python from mangling it inside classes.
NAME: Final = "__shapedsl_check__"
# Decorators that say something of shapes, and those below which nothing is called, or not as Python.
_SPEAK: Final = frozenset({"shapes", "where", "shape_vars"})
_LEAVE: Final = frozenset({"overload", "no_type_check"})
_PLAIN: Final = frozenset({"Any", "Self", *(name for name, value in vars(builtins).items() if isinstance(value, type))})


class ImportHook(MetaPathFinder):
    """What finds modules of some packages, and has them checked; a context manager that ends it.

    Attributes:
        packages: Their dotted names; submodules are meant too.
        modules: What it has loaded so far.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self.packages = tuple(packages)
        self.modules: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns what the finders behind this one find, with a loader that adds checks."""
        if not any(fullname == name or fullname.startswith(f"{name}.") for name in self.packages):
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if type(spec.loader) is SourceFileLoader:  # a subclass has plans of its own: pytest's asserts
                    spec.loader = _Loader(spec.loader.name, spec.loader.path)
                    self.modules.append(fullname)
                return spec
        return None

    def uninstall(self) -> None:
        """Ends it: modules imported from now on are as they were written. Those that are loaded stay checked."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def __enter__(self) -> ImportHook:
        return self

    def __exit__(self, *_: object) -> None:
        self.uninstall()


def install_import_hook(*packages: str | Iterable[str]) -> ImportHook:
    """Checks every call of functions with a spec, in modules of ``packages`` that are imported from now on.

    A call whose arguments do not satisfy the spec raises ``ShapeError``, as under ``@shapes(check=True)``.

    Args:
        packages: Dotted names of packages or modules, or lists of them; a package's submodules, and theirs, are
            meant too.

    Returns:
        The hook: a context manager, or ``hook.uninstall()``.

    Raises:
        TypeError: There is no name, or one that names no package.

    Warns:
        ShapeWarning: A package is imported already: what is loaded stays unchecked.

    Example:
        >>> with install_import_hook("wave"):
        ...     import wave
    """
    names: list[str] = []
    for each in packages:
        names += each if hasattr(each, "__iter__") and not isinstance(each, str) else [cast("str", each)]
    for name in names:
        if not is_package_name(name):
            raise TypeError(f"install_import_hook() takes names of packages, not {name!r}")
    if not names:
        raise TypeError("install_import_hook() needs the name of a package")
    if late := [name for name in names if name in sys.modules]:
        from .diagnostics import ShapeWarning

        listing = ", ".join(f"`{name}`" for name in late)
        message = f"{listing} is imported already and stays unchecked: install the hook before the first import"
        warnings.warn(message, ShapeWarning, stacklevel=2)
    hook = ImportHook(names)
    sys.meta_path.insert(0, hook)
    return hook


def is_package_name(name: object) -> bool:
    """Returns whether ``name`` is what an import statement can name."""
    return isinstance(name, str) and all(part.isidentifier() for part in name.split("."))


class _Loader(SourceFileLoader):
    """Loads a module with checks; always from source."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        tree = compile(self.get_data(path), path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        assert isinstance(tree, ast.Module)
        return compile(with_checks(tree), path, "exec", dont_inherit=True)


def with_checks(tree: ast.Module) -> ast.Module:
    """Returns ``tree`` with a check on each function that may speak of shapes; it is changed in place."""
    speaking = _SPEAK | {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "shapedsl"
        for alias in node.names
        if alias.name in _SPEAK
    }
    found = False
    for node in ast.walk(tree):
        if isinstance(node, (*_Definition, ast.ClassDef)):
            names = [_decorator(each) for each in node.decorator_list]
            said = [at for at, name in enumerate(names) if name in speaking]
            if _LEAVE.isdisjoint(names) and (said or (isinstance(node, _Definition) and _is_annotated(node))):
                at = said[0] if said else len(names)
                place = node.decorator_list[at] if said else node
                node.decorator_list.insert(at, ast.copy_location(ast.Name(NAME, ast.Load()), place))
                found = True
    if found:
        tree.body.insert(_head(tree), _import())
        ast.fix_missing_locations(tree)
    return tree


def _decorator(node: ast.expr) -> str:
    """Returns the last name of a decorator: ``shapes`` of ``@sd.shapes(check=True)``."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_annotated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Returns whether a parameter is annotated with more than a builtin's name."""
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(each for each in (a.vararg, a.kwarg) if each)]
    said = [each.annotation for each in every if each.annotation is not None]
    return not all(isinstance(each, ast.Name) and each.id in _PLAIN for each in said)


def _head(tree: ast.Module) -> int:
    """Returns where the first statement may stand: behind the docstring and imports from the future."""
    at = 0
    for node in tree.body:
        docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        at += 1
    return at


def _import() -> ast.stmt:
    return ast.ImportFrom(__name__, [ast.alias("check", NAME)], 0, lineno=1, col_offset=0)


def check(target: Target) -> Target:
    """Returns ``target`` with its calls checked, if it is a function that may have a spec, or a class of such.

    What the transformed source calls; the rest comes back as it is. So does a function that is defined while dynamo
    traces the one around it: nothing is checked then, and dynamo would have to trace how the checks are made.
    """
    if is_tracing():
        return target
    function = getattr(target, "__func__", target)
    if isinstance(target, type) or (isinstance(function, FunctionType) and _may_speak(function)):
        made: Target = checked(target)
        return made
    return target


def _may_speak(function: FunctionType) -> bool:
    """Returns whether something may be said of shapes, so that compilers of other languages get what they know."""
    if "__shapedsl__" in function.__dict__ or hasattr(function, "__wrapped__"):
        return True
    annotations = dict(_annotations(function))
    annotations.pop("return", None)
    return any(_is_shape(each, function.__globals__) for each in annotations.values())


def _annotations(function: FunctionType) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
    return function.__annotations__


def _is_shape(annotation: Any, scope: Mapping[str, Any], around: tuple[Any, ...] = ()) -> bool:
    """Returns whether ``annotation`` is or holds more than a plain class; when in doubt, yes.

    Args:
        annotation: What stands behind a parameter, evaluated or text.
        scope: What names in text stand for.
        around: What it was found in: an alias may contain itself, ``Json = Union[int, Sequence["Json"]]``.
    """
    if any(each is annotation for each in around):
        return False
    around = (*around, annotation)
    text = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(text, str):
        parts = [
            part.strip() for part in text.strip("'\"").split("|")
        ]  # quotes: a string under the future's annotations
        return "[" in text or any(part != "None" and _is_shape(_named(part, scope), scope, around) for part in parts)
    if isinstance(annotation, type) and not getattr(annotation, "__args__", None):
        return any(hasattr(annotation, name) for name in ("dim_str", "__dataclass_fields__", "_fields", "__total__"))
    if isinstance(annotation, Form) or hasattr(annotation, "__metadata__") or hasattr(annotation, "__value__"):
        return True
    return any(_is_shape(each, scope, around) for each in getattr(annotation, "__args__", None) or ())


def _named(text: str, scope: Mapping[str, Any]) -> Any:
    """Returns what a dotted name stands for; where nobody knows, a form, which speaks of shapes."""
    first, *rest = text.split(".")
    unknown = Form("Tensor")
    found = scope.get(first, getattr(builtins, first, unknown))
    for name in rest:
        found = getattr(found, name, unknown)
    return found if not isinstance(found, str) else unknown


__all__ = ["ImportHook", "check", "install_import_hook", "is_package_name", "with_checks"]
