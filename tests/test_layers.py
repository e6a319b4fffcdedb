"""The import law of docs/architecture.md, read off the syntax tree: function bodies and TYPE_CHECKING blocks included."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "shapedsl"

BELOW: dict[str, set[str]] = {
    "assets": set(),
    "diagnostics": set(),
    "surface": set(),  # what users' modules hold while they are imported
    "layout": set(),  # what `fmt` and the writer share
    "ir": {"diagnostics", "layout"},
    "frontends": {"diagnostics", "layout", "ir", "assets", "surface"},
    "normalize": {"diagnostics", "ir"},
    "runtime": {"diagnostics", "ir"},
    "targets": {"diagnostics", "ir", "runtime"},
    "serving": {"diagnostics", "ir", "normalize", "runtime", "targets"},
    "pipeline": {"diagnostics", "ir", "frontends", "normalize", "runtime", "targets"},
    "attached": {"api"},  # on first read, which is long after both were imported
    "api": {
        "assets",
        "attached",
        "surface",
        "diagnostics",
        "ir",
        "frontends",
        "normalize",
        "runtime",
        "targets",
        "serving",
        "pipeline",
    },
    "cli": {"assets", "api", "pipeline", "diagnostics"},
}
# What is public under its own name may be imported by no layer but is made of any.
FACADES = {
    "__init__",
    "__main__",
    "annotations",
    "attached",
    "checked",
    "decorators",
    "dims",
    "dtypes",
    "import_hook",
    "pytest_plugin",
    "strategies",
}

OWNERS: dict[str, tuple[str, ...]] = {
    "lark": ("frontends/text/",),
    "sympy": ("normalize/algebra.py",),
    "torch": ("targets/",),
    "click": ("cli/",),
    "libcst": ("frontends/stubs", "frontends/legacy/"),
    "jaxtyping": (),
    "numpy": (),
    "matplotlib": ("serving/pictures/svg.py",),
    "hypothesis": ("strategies.py",),
    "z3": ("normalize/decide/smt.py",),
}


def modules() -> list[Path]:
    return sorted(path for pattern in ("*.py", "*.pyi") for path in ROOT.rglob(pattern))


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, absolute dotted name) of every import in the file, wherever it stands."""
    package = ["shapedsl", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{stem}.{alias.name}"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "import_module",
            "__import__",
        ):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".pyi").removesuffix(".py")


def type_only(path: Path) -> set[int]:
    """Returns the lines inside ``if TYPE_CHECKING:``, where the signatures of the API name torch's types."""
    return {
        line
        for node in ast.walk(tree(path))
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for child in node.body
        for line in range(child.lineno, (child.end_lineno or child.lineno) + 1)
    }


def violations(path: Path) -> list[str]:
    inside = path.relative_to(ROOT).as_posix()
    own = layer(path)
    found = []
    for line, name in imports(path):
        parts = name.split(".")
        owners = OWNERS.get(parts[0])
        named_only = path.suffix == ".pyi" or (own == "api" and line in type_only(path))
        if owners is not None and not inside.startswith(owners) and not named_only:
            found.append(f"{inside}:{line} imports {name}, which belongs to {owners or 'nobody'}")
        if parts[0] != "shapedsl" or own in FACADES:
            continue
        other = parts[1] if len(parts) > 1 else "__init__"
        if other != own and other not in BELOW.get(own, set()):
            found.append(f"{inside}:{line} imports {name}: {own} may import {sorted(BELOW.get(own, set()))}")
    return found


def test_every_module_belongs_to_a_layer() -> None:
    assert {layer(path) for path in modules()} <= BELOW.keys() | FACADES


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_only_what_lies_below(path: Path) -> None:
    assert violations(path) == []


def test_hidden_imports_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_layers.ROOT", tmp_path)
    bad = tmp_path / "runtime" / "bind.py"
    bad.parent.mkdir()
    bad.write_text(
        "from typing import TYPE_CHECKING\n"
        "from ..ir.dims import Var\n"
        "if TYPE_CHECKING:\n    from ..normalize import Normal\n"
        "def f():\n    from torch import nn\n    from .. import cli\n    import importlib\n"
        "    importlib.import_module('sympy.core')\n"
    )
    found = violations(bad)
    assert [line.split(" imports ")[1].split(":")[0].split(",")[0] for line in found] == [
        "shapedsl.normalize.Normal",
        "torch.nn",
        "shapedsl.cli",
        "sympy.core",
    ]


def test_no_import_cycle_between_modules() -> None:
    """Within a layer too: a cycle at import time means that two modules are one."""
    names = {
        ".".join(["shapedsl", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__"): path
        for path in modules()
        if path.suffix == ".py"
    }
    edges: dict[str, set[str]] = {}
    for name, path in names.items():
        targets = set()
        for line, target in imports(path):
            if not _at_top_level(path, line):
                continue
            while target not in names and "." in target:
                target = target.rpartition(".")[0]
            if target in names and target != name:
                targets.add(target)
        edges[name] = targets
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail[trail.index(name) :], name))}"
        if name in done:
            return
        for target in sorted(edges[name]):
            visit(target, (*trail, name))
        done.add(name)

    for name in sorted(names):
        visit(name, ())


def _at_top_level(path: Path, line: int) -> bool:
    return any(node.lineno == line for node in tree(path).body)
