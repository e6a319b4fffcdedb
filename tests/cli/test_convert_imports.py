"""A name that another file imports keeps its meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedsl.cli.converting.importing import imported_of, imports_in

from .helpers import run

NET = """\
import torch
from torch.export import Dim, export

batch = Dim("batch", max=8)
rows = Dim("rows", max=9)

class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1

def trace():
    return export(Net(), (torch.ones(3, 4),), dynamic_shapes={"x": {0: batch, 1: rows}})
"""


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("from net import batch", {"batch"}),
        ("from pkg.net import Net, batch as b", {"Net", "batch"}),
        ("from .net import (\n    Net,  # the net\n    rows,\n)", {"Net", "rows"}),
        ("from .net import Net, \\\n    rows", {"Net", "rows"}),
        ("from net import *", {"*"}),
        ("import pkg.net as n", {"*"}),
        ("import os, net", {"*"}),
        ("from . import net", {"*"}),
        ("from pkg import net", {"*"}),
        ("def f():\n    from net import rows", {"rows"}),
        ("from torch.net import batch", set()),
        ("import nets", set()),
        ("x = 'from net'", set()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_file_imports(tmp_path: Path, statement: str, names: set[str]) -> None:
    (tmp_path / "pkg").mkdir()
    importer, module = tmp_path / "pkg" / "train.py", tmp_path / "pkg" / "net.py"
    importer.write_text(f"{statement}\n", encoding="utf-8")
    module.write_text(NET, encoding="utf-8")
    assert imported_of(module, imports_in([importer, module])) == names


def test_a_package_is_its_folder(tmp_path: Path) -> None:
    (tmp_path / "shapes").mkdir()
    module, importer = tmp_path / "shapes" / "__init__.py", tmp_path / "main.py"
    module.write_text("", encoding="utf-8")
    importer.write_text("from shapes import batch\n", encoding="utf-8")
    assert imported_of(module, imports_in([importer, tmp_path / "missing.py"])) == {"batch"}


def test_an_imported_dim_stays(tmp_path: Path) -> None:
    pytest.importorskip("libcst", reason="converting reads Python source with libcst")
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    (tmp_path / "train.py").write_text("from net import batch\n", encoding="utf-8")
    done = run("convert", "--write", "--journal", str(tmp_path / "journal"), str(tmp_path))
    assert done.exit_code == 0, done.stderr
    text = (tmp_path / "net.py").read_text(encoding="utf-8")
    assert 'batch = Dim("batch", max=8)\n' in text
    assert 'batch_var = ShapeVar("batch", max=8)\n' in text
    assert 'rows = ShapeVar("rows", max=9)\n' in text
    assert "from torch.export import Dim, export\n" in text
