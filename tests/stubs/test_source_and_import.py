"""A module read as source gives the specs that importing it gives: function by function, over all annotated modules here.

The modules are the tests of the annotation frontend, what is shown to type checkers, and `samples`, with its neighbors.
"""

from __future__ import annotations

import importlib.util
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.annotated import read_callable
from shapedsl.ir import Signature
from shapedsl.ir.write import write_signature

pytest.importorskip("libcst", reason="the reader of stubs parses with it")
HERE = Path(__file__).parent
FILES = [
    *sorted((HERE.parent / "annotated").glob("test_*.py")),
    *(HERE.parent / "typing" / "clean" / f"{name}.py" for name in ("any_name", "first_file", "sizes", "spellings")),
    HERE / "sampled" / "spellings.py",
    HERE / "sampled" / "late.py",
]
# What only running tells: these are made or changed by statements.
DYNAMIC = {
    "test_places.objects": "`_B = __import__(…)`",
    "test_torch.early": "its `__annotations__` are assigned",
}


def imported(path: Path) -> types.ModuleType:
    """Imports a file under a name of its own."""
    package = "tests.stubs.sampled." if path.parent.name == "sampled" else "sampled_"
    spec = importlib.util.spec_from_file_location(f"{package}{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def functions(module: types.ModuleType, names: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the functions that are written in a module, under the names that specs have."""
    for name, value in list(vars(names).items()):
        if isinstance(value, type) and value.__module__ == module.__name__ and value.__qualname__ == prefix + name:
            yield from functions(module, value, f"{prefix}{name}.")
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType) and (function.__module__, function.__qualname__) == (
            module.__name__,
            prefix + name,
        ):
            generated = function.__code__.co_filename != module.__file__  # a dataclass's __init__
            if not generated and f"{Path(str(module.__file__)).stem}.{prefix}{name}" not in DYNAMIC:
                yield prefix + name, value


def shown(signature: Signature | None) -> str:
    return "" if signature is None else f"{write_signature(signature)} # {signature.receiver}, {signature.doc}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_source_and_import_agree(path: Path) -> None:
    try:
        module = imported(path)
    except pytest.skip.Exception as skip:  # of a module that needs torch
        pytest.skip(str(skip))
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("what is imported here imports torch")
    read = {s.key: s for s in pipeline.read_stub(Source(str(path), path.read_text(encoding="utf-8")), Report())}
    expected: dict[str, Signature | None] = {}
    for name, function in functions(module, module):
        expected[name] = read_callable(function, Report())
    found = {name: read.get(name) for name in expected}
    assert {name: shown(each) for name, each in found.items()} == {name: shown(each) for name, each in expected.items()}
    assert found == expected


def test_the_samples_speak() -> None:
    """The law above is about something: each sample is a spec."""
    for path in FILES[-2:]:
        module = imported(path)
        names = [name for name, _ in functions(module, module)]
        assert len(names) > 15
        silent = [name for name, function in functions(module, module) if read_callable(function, Report()) is None]
        assert silent == ["says_nothing"]
