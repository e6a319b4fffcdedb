"""Users' annotations under every type checker, as their editors run them: clean where they are right, and only there."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch", reason="the stubs speak of torch.Tensor")

import shapedsl as sd

from . import matrix
from .checkers import CHECKERS, ROOT, RUFF, Checker, Finding, ruff
from .examples import every

HERE = Path(__file__).parent

each_checker = pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: f"{checker.name}-{checker.mode}")
Found = Callable[[Checker], list[Finding]]
WRONG = sorted((HERE / "wrong").glob("*.py*"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Right files, the documentation's examples among them, and wrong ones, in one folder."""
    folder = matrix.write_files(tmp_path_factory.mktemp("users") / "files")
    for file in WRONG:
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module")
def found(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Returns what a checker finds in the folder; each runs once."""
    first = matrix.torch_first(tmp_path_factory.mktemp("path"))
    return functools.cache(lambda checker: checker.findings(files, [first]))


@each_checker
def test_right_annotations_are_clean(checker: Checker, found: Found) -> None:
    right = [each for each in found(checker) if each.file not in {file.name for file in WRONG}]
    assert matrix.unexpected(checker, right) == []


@each_checker
def test_mistakes_are_found(checker: Checker, found: Found) -> None:
    """By each of them, on the marked lines and on no other."""
    for file in WRONG:
        lines = file.read_text(encoding="utf-8").splitlines()
        marked = [number for number, line in enumerate(lines, 1) if line.endswith("# error")]
        assert sorted({each.line for each in found(checker) if each.file == file.name}) == marked


def test_right_annotations_are_clean_under_ruffs_default_rules(tmp_path: Path) -> None:
    if not RUFF.is_installed:
        pytest.skip("ruff is not installed")
    assert matrix.lint(tmp_path) == []


def test_pyrefly_has_its_own_stubs_of_torch_beside_ours(files: Path) -> None:
    """There `torch.Tensor` is generic; ours stays an alias of it. Only its sizes have types of their own."""
    from ..stubs.corpus import require

    (pyrefly,) = [checker for checker in CHECKERS if checker.name == "Pyrefly"]
    found = pyrefly.findings(files, [require()])
    about_modules = {
        example.name for example in every() if example.page == "docs/stub-library.md"
    }  # torch's, typed anew
    assert {each.file for each in found} - about_modules == {"sizes.py", *(file.name for file in WRONG)}


def test_the_table_is_current() -> None:
    """Its rows and verdicts; versions are those of the day it was written."""
    results: list[tuple[Checker, list[Finding]]] = [(each, []) for each in (*CHECKERS, RUFF) if each.is_installed]
    if len(results) < len(CHECKERS) + 1:
        pytest.skip("not every checker is installed")
    wanted = matrix.rows(results)
    assert matrix.without_versions(matrix.table_of_page()) == matrix.without_versions(wanted), (
        "python -m tests.typing rewrites it"
    )


QUOTED = """\
from __future__ import annotations

from shapedsl import Tensor, shapes, where
from shapedsl.dims import B


@shapes
@where("Q <= 8")
def names(x: Tensor["Q", "R"], y: Tensor["B", "R"]) -> Tensor["B", "Q"]:
    return x


@shapes
def texts(x: Tensor["2*B + 1, R"], y: Tensor["*batch", "_"], *rest: "Tensor[R]") -> "Tensor[R]":
    return x


class Net:
    @shapes("dim R in [1, 8]", attach=False)
    def forward(self, x: "list[Tensor['R']]", y: "Tensor['R', 3] | None" = None) -> Tensor["R"]:
        return x[0]
"""


def test_what_ruff_unquotes_means_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UP037 turns ``Tensor["Q", "R"]`` into ``Tensor[Q, R]`` under the future's annotations: names nobody defines."""
    if not RUFF.is_installed:
        pytest.skip("ruff is not installed")
    monkeypatch.syspath_prepend(tmp_path)
    before = loaded(tmp_path / "quoted_before.py", QUOTED)
    (tmp_path / "quoted_after.py").write_text(QUOTED, encoding="utf-8")
    left = ruff(tmp_path, "--select=UP037", "--fix", "--exclude=quoted_before.py", "--unsafe-fixes")
    assert left == []
    text = (tmp_path / "quoted_after.py").read_text(encoding="utf-8")
    assert "x: Tensor[Q, R], y: Tensor[B, R]) -> Tensor[B, Q]" in text
    assert "*rest: Tensor[R]) -> Tensor[R]" in text
    after = loaded(tmp_path / "quoted_after.py", text)
    for path in ("names", "texts", "Net.forward"):
        specs = []
        for module in (before, after):
            target = module
            for name in path.split("."):
                target = getattr(target, name)
            specs.append(sd.spec_of(target))  # type: ignore[arg-type]
        assert specs[0] is not None
        assert specs[0] == specs[1], path


def loaded(path: Path, text: str) -> ModuleType:
    path.write_text(text, encoding="utf-8")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def test_ruff_formats_the_documentations_examples_as_they_are(tmp_path: Path) -> None:
    if not RUFF.is_installed:
        pytest.skip("ruff is not installed")
    for example in every():
        (tmp_path / example.name).write_text(example.body, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--diff", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_stubs_list_what_the_modules_have() -> None:
    import shapedsl
    import shapedsl.dtypes

    stub = (ROOT / "shapedsl" / "dtypes.pyi").read_text(encoding="utf-8")
    assert re.findall(r"^(\w+) = TypeAliasType\(\"(\w+)\", torch", stub, re.MULTILINE) == [
        (name, name) for name in shapedsl.dtypes.__all__
    ]
    facade = Path(shapedsl.__file__).read_text(encoding="utf-8")
    shown = set(re.findall(r"^    from \.\w+ import (\w+) as \1\b", facade, re.MULTILINE))
    assert shown == set(shapedsl.__all__) - {"__version__"}


def test_an_examples_file_brings_what_it_needs() -> None:
    """Each is whole: it compiles, and defines or imports every name that it reads."""
    for example in every():
        ast.parse(example.text)
        assert example.text.endswith(example.body)


@pytest.mark.parametrize("path", sorted((HERE / "clean").glob("*.py")), ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")
def test_what_is_clean_has_specs_at_run_time(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No checker is content with something that means nothing."""
    if path.stem == "api":
        pytest.skip("it calls what needs a file")
    monkeypatch.chdir(tmp_path)
    module = loaded(tmp_path / f"clean_{path.name}", path.read_text(encoding="utf-8"))
    classes = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    functions = [each for owner in (module, *classes) for each in vars(owner).values() if hasattr(each, "__code__")]
    specs = {
        function.__name__: sd.spec_of(function) for function in functions if function.__module__ == module.__name__
    }
    assert any(specs.values())
    for function in functions:
        assert specs.get(function.__name__) is not None or not hasattr(function, "__shapedsl__"), function
