"""What the import hook makes of source and of functions, on any Python, with torch or without."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import shapedsl as sd
from shapedsl.import_hook import NAME, with_checks


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path; what is imported from it is forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]


def loaded(folder: Path, name: str, source: str) -> ModuleType:
    (folder / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")
    with sd.install_import_hook(name):
        return importlib.import_module(name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1", "x = 1"),
        ("def f(x: int, *a: str, **k: object) -> Tensor[B]: ...", None),
        ("def f(x): ...", None),
        ("def f(x: Tensor[B]): ...", "@__shapedsl_check__\ndef f(x: Tensor[B]): ..."),
        ("@a\n@b\ndef f(x: T): ...", "@a\n@b\n@__shapedsl_check__\ndef f(x: T): ..."),
        (
            "@a\n@shapes\n@b\n@where(B < 3)\ndef f(x): ...",
            "@a\n@__shapedsl_check__\n@shapes\n@b\n@where(B < 3)\ndef f(x): ...",
        ),
        ("@sd.shapes(x='B')\ndef f(x): ...", "@__shapedsl_check__\n@sd.shapes(x='B')\ndef f(x): ..."),
        ("@no_type_check\ndef f(x: T): ...", None),
        (
            "class C(A):\n    async def f(self, *, x: T): ...",
            "class C(A):\n    @__shapedsl_check__\n    async def f(self, *, x: T): ...",
        ),
        ("@shapes\nclass C: ...", "@__shapedsl_check__\n@shapes\nclass C: ..."),
        ("@dataclass\nclass C:\n    x: Tensor[B]", None),
    ],
)
def test_where_the_check_stands(before: str, after: str | None) -> None:
    wanted = ast.parse(before if after is None else after).body
    if after not in (None, before):
        wanted = [*ast.parse(f"from shapedsl.import_hook import check as {NAME}").body, *wanted]
    made = with_checks(ast.parse(before))
    assert [ast.dump(each) for each in made.body] == [ast.dump(each) for each in wanted]


def test_the_import_stands_behind_docstring_and_future() -> None:
    made = with_checks(ast.parse('"""Doc."""\nfrom __future__ import annotations\n\ndef f(x: T): ...\n'))
    assert [type(node).__name__ for node in made.body] == ["Expr", "ImportFrom", "ImportFrom", "FunctionDef"]
    assert ast.get_docstring(made) == "Doc."
    compile(made, "<test>", "exec")


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_what_may_speak_of_shapes_is_wrapped(modules: Path, future: str) -> None:
    source = """\
    import typing
    from typing import Annotated, Any, NamedTuple, Optional
    from shapedsl import Tensor
    from shapedsl.dtypes import int64

    class Pair(NamedTuple):
        x: Tensor["B"]
    Alias = Tensor["B", 3]

    def yes_1(x: Tensor["B"]): ...
    def yes_2(*x: int64): ...
    def yes_3(x: Annotated[object, "B"]): ...
    def yes_4(x: list[Tensor["B"]]): ...
    def yes_5(x: Pair): ...
    def yes_6(x: "Alias"): ...
    def yes_7(x: Optional[Tensor["B"]] = None): ...
    def yes_8(*, k: "typing.Optional[Pair]" = None): ...
    def no_1(x): ...
    def no_2(x: int, y: "str", *z: object, k: Any = None) -> Tensor["B"]: ...
    def no_3(x: ModuleNotFoundError, y: "typing.Hashable | None"): ...
    def no_4(x: "int | str") -> "Pair": ...
    """
    module = loaded(modules, f"speaks_{len(future)}", future + textwrap.dedent(source))
    functions = {name: value for name, value in vars(module).items() if name.startswith(("yes", "no"))}
    assert len(functions) == 12
    for name, function in functions.items():
        assert hasattr(function, "__wrapped__") == name.startswith("yes"), name


def test_kinds_of_functions_stay_what_they_are(modules: Path) -> None:
    source = """\
    from shapedsl import Tensor

    async def coroutine(x: Tensor["B"]): ...
    def generator(x: Tensor["B"]):
        yield x
    async def both(x: Tensor["B"]):
        yield x
    def parameters(a: Tensor["B"], b=1, /, c=None, *d, e, f=(), **g): ...
    def positional(a: Tensor["B"], b, /): ...
    def named(a: Tensor["B"], *, b=3): ...
    """
    module = loaded(modules, "kinds", source)
    assert inspect.iscoroutinefunction(module.coroutine)
    assert inspect.isgeneratorfunction(module.generator)
    assert inspect.isasyncgenfunction(module.both)
    for name in ("parameters", "positional", "named"):
        function = getattr(module, name)
        assert (
            function.__code__.co_varnames[: function.__code__.co_argcount]
            == (function.__wrapped__.__code__.co_varnames[: function.__code__.co_argcount])
        )
        assert inspect.signature(function) == inspect.signature(function.__wrapped__)


def test_names_that_exist_for_type_checkers_only(modules: Path) -> None:
    source = """\
    from __future__ import annotations
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from nowhere import Batch

    def f(x: Batch): ...
    """
    assert hasattr(loaded(modules, "checked_only", source).f, "__wrapped__")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters need Python 3.12")
def test_type_parameters(modules: Path) -> None:
    source = """\
    from shapedsl import Tensor

    type Pair = tuple[Tensor["B"], Tensor["B"]]

    def f[B, *S](x: Tensor[B, *S]): ...
    def g(x: Pair): ...

    class C[D]:
        def h(self, x: Tensor[D]): ...
    """
    module = loaded(modules, "parameterized", source)
    assert [each.__name__ for each in module.f.__type_params__] == ["B", "S"]
    for function in (module.f, module.g, module.C.h):
        assert hasattr(function, "__wrapped__")
    assert str(sd.spec_of(module.f)) == "def f(x: Tensor[B, *S]): ..."
