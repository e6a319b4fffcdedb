"""The import hook: what it changes in a module, and what it leaves."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import shapedsl as sd
from shapedsl.import_hook import NAME

torch = pytest.importorskip("torch", reason="calls take tensors")

NESTED = """\
from __future__ import annotations

from typing import Dict, List, Optional, Union

import torch

from shapedsl import Tensor, shapes
from shapedsl.dims import B

Json = Optional[Union[int, str, List["Json"], Dict[str, "Json"]]]


def dump(value: Json) -> str:
    return str(value)


class Net(torch.nn.Module):
    @shapes
    def forward(self, x: Tensor[B, 3]) -> Tensor[B, 3]:
        def double(z: Tensor[B, 3]) -> Tensor[B, 3]:
            return z + z

        return double(x)
"""

MODULE = '''\
"""A docstring."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, overload

import torch

import shapedsl
from shapedsl import Tensor, shapes, shapes as said, where

if TYPE_CHECKING:
    from shapedsl.dims import B


@shapes("where B < 4")
def decorated(x: Tensor[B]):
    return x


@said(x="B", where="B < 4")
def renamed(x):
    return x


@shapedsl.shapes(x="B", where="B < 4")
def dotted(x):
    return x


@functools.lru_cache
@where("B < 4")
def cached(x: Tensor[B]):
    return x


def annotated(x: Tensor[3]):
    def nested(y: Tensor[3]):
        return y

    return nested


def fails(x: Tensor[3]):
    return (
        x.no_such
    )


class Plain:
    def method(self, x: Tensor[3]):
        return lambda: self.__private(x)

    def __private(self, x: Tensor[3]):
        return x

    @staticmethod
    def static(x: Tensor[3]):
        return x

    @classmethod
    def of_class(cls, x: Tensor[3]):
        return cls

    @property
    def size(self):
        return 3


@shapes("dim B in [1, 3]")
class Shared:
    def run(self, x: Tensor[B]):
        return x

    def length(self):
        return 3


@dataclass
class Batch:
    ids: Tensor[B, 2]


async def waits(x: Tensor[3]):
    return x


def batched(batch: Batch):
    return batch


def untouched(x: int, y: torch.Tensor, *, z: "str | None" = None) -> Tensor[3]:
    return y


def bare(x):
    return x


@overload
def several(x: Tensor[3]) -> int: ...
@overload
def several(x: str) -> str: ...
def several(x):
    return x
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on sys.path with a package ``shaped_pkg``; what was imported of it is forgotten."""
    folder = tmp_path / "shaped_pkg"
    (folder / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "deep" / "__init__.py").write_text("")
    (folder / "deep" / "module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "shaped_pkg_other.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("shaped_pkg")]:
        del sys.modules[name]


@pytest.fixture
def module(package: Path) -> ModuleType:
    with sd.install_import_hook("shaped_pkg"):
        return importlib.import_module("shaped_pkg.deep.module")


@pytest.mark.parametrize("name", ["decorated", "renamed", "dotted", "cached"])
def test_decorated_functions_are_checked_by_all_that_is_said(module: ModuleType, name: str) -> None:
    function = getattr(module, name)
    function(torch.ones(3))
    with pytest.raises(sd.ShapeError, match=rf"in a call of `shaped_pkg\.deep\.module\.{name}`"):
        function(torch.ones(4))


def test_annotated_functions_are_checked_wherever_they_stand(module: ModuleType) -> None:
    plain = module.Plain()
    good, bad = torch.ones(3), torch.ones(4)
    assert plain.size == 3
    for call in (
        module.annotated,
        module.annotated(good),
        plain.method,
        plain._Plain__private,
        module.Plain.static,
        module.Plain.of_class,
        module.Shared().run,
    ):
        call(good)
        with pytest.raises(sd.ShapeError):
            call(bad)
    assert module.Shared().length() == 3
    assert torch.equal(plain.method(good)(), good)
    module.batched(module.Batch(torch.ones(5, 2)))
    with pytest.raises(sd.ShapeError, match="ids"):
        module.batched(module.Batch(torch.ones(5, 3)))
    assert inspect.iscoroutinefunction(module.waits)


def test_what_says_nothing_of_its_arguments_is_untouched(module: ModuleType) -> None:
    for name in ("untouched", "bare", "several"):
        assert not hasattr(getattr(module, name), "__wrapped__"), name


def test_no_line_moves(module: ModuleType) -> None:
    with pytest.raises(AttributeError) as caught:
        module.fails(torch.ones(3))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.line) == (module.__file__, "x.no_such")
    assert inspect.getsource(module.decorated).startswith('@shapes("where B < 4")\ndef decorated')
    assert module.__doc__ == "A docstring."
    assert vars(module)[NAME]


def test_modules_elsewhere_and_after_the_hook_are_as_written(package: Path) -> None:
    with sd.install_import_hook("shaped_pkg") as hook:
        other = importlib.import_module("shaped_pkg_other")  # the name begins alike
        importlib.import_module("shaped_pkg.deep")
    assert hook.modules == ["shaped_pkg", "shaped_pkg.deep"]
    late = importlib.import_module("shaped_pkg.deep.module")
    for module in (other, late):
        module.decorated(torch.ones(9))
        assert NAME not in vars(module)
    hook.uninstall()  # twice is once


def test_several_packages_and_single_modules(package: Path) -> None:
    with sd.install_import_hook(["shaped_pkg.deep.module"], "shaped_pkg_other"):
        for name in ("shaped_pkg.deep.module", "shaped_pkg_other"):
            with pytest.raises(sd.ShapeError):
                importlib.import_module(name).decorated(torch.ones(9))


def test_two_hooks_check_once(package: Path) -> None:
    with sd.install_import_hook("shaped_pkg"), sd.install_import_hook("shaped_pkg.deep"):
        module = importlib.import_module("shaped_pkg.deep.module")
    assert not hasattr(module.decorated.__wrapped__, "__wrapped__")


def test_compiled_files_are_neither_read_nor_written(package: Path) -> None:
    """With the hook and without it, in either order, in processes of their own."""
    (package / "shaped_pkg" / "light.py").write_text("from shapedsl import Tensor\ndef f(x: Tensor[3]): ...\n")
    code = "import shaped_pkg.light as m; print(hasattr(m.f, '__wrapped__'))"
    hooked = f"import shapedsl; shapedsl.install_import_hook('shaped_pkg'); {code}"
    results = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONPATH": f"{package}:{Path(sd.__file__).parents[1]}", "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for script in (code, hooked, code, hooked)
    ]
    assert results == ["False", "True", "False", "True"]
    assert list((package / "shaped_pkg" / "__pycache__").glob("light*"))


def test_what_is_imported_already_is_told(package: Path) -> None:
    importlib.import_module("shaped_pkg")
    with pytest.warns(sd.ShapeWarning, match="`shaped_pkg` is imported already"):
        sd.install_import_hook("shaped_pkg").uninstall()


@pytest.mark.parametrize("names", [(), ([],), ("",), ("a/b",), ("a..b",), ([3],), (3,)])
def test_what_names_no_package_is_refused(names: tuple[str, ...]) -> None:
    before = list(sys.meta_path)
    with pytest.raises(TypeError, match="install_import_hook"):
        sd.install_import_hook(*names)
    assert sys.meta_path == before


@pytest.fixture
def nested(package: Path) -> ModuleType:
    (package / "shaped_pkg" / "nested.py").write_text(NESTED)
    with sd.install_import_hook("shaped_pkg"):
        return importlib.import_module("shaped_pkg.nested")


def test_an_alias_that_contains_itself_is_no_shape(nested: ModuleType) -> None:
    assert nested.dump([1]) == "[1]"
    assert not hasattr(nested.dump, "__wrapped__")


def test_a_function_in_a_compiled_one_is_not_checked(nested: ModuleType) -> None:
    net = nested.Net()
    for compiled in (sd.compile(net, backend="eager"), torch.compile(net, backend="eager", fullgraph=True)):
        for batch in (2, 5):
            assert torch.equal(compiled(torch.ones(batch, 3)), torch.full((batch, 3), 2.0))
    with pytest.raises(sd.ShapeError, match=r"in a call of `shaped_pkg\.nested\.Net\.forward`"):
        net(torch.ones(2, 4))


def test_a_syntax_error_is_pythons_own(package: Path) -> None:
    (package / "shaped_pkg" / "wrong.py").write_text("def f(:\n")
    with sd.install_import_hook("shaped_pkg"), pytest.raises(SyntaxError) as caught:
        importlib.import_module("shaped_pkg.wrong")
    assert (caught.value.filename, caught.value.lineno) == (str(package / "shaped_pkg" / "wrong.py"), 1)
