"""Imports that a rewrite adds, merges and drops: precisely, and where the old ones stood."""

from __future__ import annotations

import pytest

from .plans import applied

SPECS = "torch.fx.experimental.dynamic_spec"
USE = 'b = «Dim|ShapeVar»("b")\n'
USED = 'b = ShapeVar("b")\n'
NEW = f"from {SPECS} import ShapeVar\n"

# What stands above USE → what stands above USED.
ABOVE = {
    "one of two names": ("from torch.export import Dim, export\n", f"from torch.export import export\n{NEW}"),
    "the only name": ("import os\nfrom torch.export import Dim\nimport sys\n", f"import os\n{NEW}import sys\n"),
    "in the order of modules": (
        "import torch\nfrom torch import nn\nfrom torch.export import Dim\nfrom torch.nn import functional\n",
        f"import torch\nfrom torch import nn\n{NEW}from torch.nn import functional\n",
    ),
    "not between modules": (
        "import torch\nimport torch.nn\nfrom torch.export import Dim\n",
        f"import torch\nimport torch.nn\n{NEW}",
    ),
    "not between modules, without a name of its own": (
        "import torch\nimport torch.nn as nn\nimport torch.utils\nfrom torch.export import Dim, export\n",
        f"import torch\nimport torch.nn as nn\nimport torch.utils\nfrom torch.export import export\n{NEW}",
    ),
    "behind what comes before it": (
        "from torch.export import Dim\nfrom torch.export import export\n",
        f"from torch.export import export\n{NEW}",
    ),
    "not across a gap": (
        "from torch.export import Dim, export\n\nfrom torch import nn\n",
        f"from torch.export import export\n{NEW}\nfrom torch import nn\n",
    ),
    "merged": (
        f"from torch.export import Dim\nfrom {SPECS} import TensorSpec\n",
        f"from {SPECS} import ShapeVar, TensorSpec\n",
    ),
    "merged on lines": (
        f"from torch.export import Dim\nfrom {SPECS} import (\n    IntVar,\n    TensorSpec,\n)\n",
        f"from {SPECS} import (\n    IntVar,\n    ShapeVar,\n    TensorSpec,\n)\n",
    ),
    "there already": (f"from torch.export import Dim\n{NEW}", NEW),
    "of several on lines": (
        "from torch.export import (\n    Dim,\n    export,  # both\n)\n",
        f"from torch.export import (\n    export,  # both\n)\n{NEW}",
    ),
    "a comment behind": ("from torch.export import Dim  # sizes\n", f"# sizes\n{NEW}"),
    "exported": (
        "from torch.export import Dim\n__all__ = ['Dim']\n",
        f"from torch.export import Dim\n{NEW}__all__ = ['Dim']\n",
    ),
    "for others": ("from torch.export import Dim as Dim\n", f"from torch.export import Dim as Dim\n{NEW}"),
    "for others, by a comment": (
        "from torch.export import Dim  # noqa: F401\n",
        f"from torch.export import Dim  # noqa: F401\n{NEW}",
    ),
    "used elsewhere": (
        "from torch.export import Dim\nc = Dim('c')\n",
        f"from torch.export import Dim\n{NEW}c = Dim('c')\n",
    ),
    "used in an annotation": (
        "from torch.export import Dim\ndef f(c: 'Dim'): ...\n",
        f"from torch.export import Dim\n{NEW}def f(c: 'Dim'): ...\n",
    ),
    "a star": ("from torch.export import *\n", f"from torch.export import *\n{NEW}"),
    "behind a docstring and the future": (
        '"""Doc."""\n\nfrom __future__ import annotations\n\nfrom torch.export import *\n\n',
        f'"""Doc."""\n\nfrom __future__ import annotations\n\nfrom torch.export import *\n{NEW}\n',
    ),
    "in a try": (
        "try:\n    import torch\n    from torch.export import Dim, export\nexcept ImportError:\n    torch = None\n",
        f"try:\n    import torch\n    from torch.export import export\n    {NEW}except ImportError:\n    torch = None\n",
    ),
    "the only name in a try": (
        "try:\n    from torch.export import Dim\nexcept ImportError:\n    raise SystemExit\n",
        f"try:\n    from torch.export import Dim\n    {NEW}except ImportError:\n    raise SystemExit\n",
    ),
    "one that another may take the place of": (
        "try:\n    from torch.export import Dim\nexcept ImportError:\n    Dim = None\n",
        f"try:\n    from torch.export import Dim\n    {NEW}except ImportError:\n    Dim = None\n",
    ),
    "not among those of type checkers": (
        f"from typing import TYPE_CHECKING\nfrom torch.export import Dim\nif TYPE_CHECKING:\n    from {SPECS} import TensorSpec\n",
        f"from typing import TYPE_CHECKING\n{NEW}if TYPE_CHECKING:\n    from {SPECS} import TensorSpec\n",
    ),
    "Windows' line ends": (
        "from torch.export import Dim, export\r\n",
        f"from torch.export import export\r\n{NEW[:-1]}\r\n",
    ),
    "a byte-order mark": ("\ufefffrom torch.export import Dim\n", f"\ufeff{NEW}"),
}


@pytest.mark.parametrize("case", ABOVE)
def test_imports_above_a_use(case: str) -> None:
    before, after = ABOVE[case]
    assert applied(before + USE) == after + USED


OLD = "from torch._export import Dim, export\n"

# Imports in branches: the whole file, before and after.
BRANCHES = {
    "whichever branch ran": (
        f"import torch\ntry:\n    from torch.export import Dim, export\nexcept ImportError:\n    {OLD}{USE}",
        f"import torch\n{NEW}try:\n    from torch.export import Dim, export\nexcept ImportError:\n    {OLD}{USED}",
    ),
    "by the version": (
        f"import torch\nif torch.__version__ > '2':\n    from torch.export import Dim\nelse:\n    {OLD}\n{USE}",
        f"import torch\n{NEW}if torch.__version__ > '2':\n    from torch.export import Dim\nelse:\n    {OLD}\n{USED}",
    ),
    "nothing above the branches": (
        f"try:\n    from torch.export import Dim\nexcept ImportError:\n    {OLD}{USE}",
        f"{NEW}try:\n    from torch.export import Dim\nexcept ImportError:\n    {OLD}{USED}",
    ),
    "a use in a function": (
        f"import os\nif os.sep:\n    from torch.export import Dim\nelse:\n    {OLD}def f():\n    {USE}",
        f"import os\n{NEW}if os.sep:\n    from torch.export import Dim\nelse:\n    {OLD}def f():\n    {USED}",
    ),
    "in a function": (
        f"import os\ndef f():\n    import torch\n    if os.sep:\n        from torch.export import Dim\n    else:\n"
        f"        {OLD}    {USE}",
        f"import os\ndef f():\n    import torch\n    {NEW}    if os.sep:\n        from torch.export import Dim\n    else:\n"
        f"        {OLD}    {USED}",
    ),
    "a branch that leaves": (
        f"try:\n    from torch.export import Dim\nexcept ImportError:\n    raise SystemExit from None\n{USE}",
        f"try:\n    from torch.export import Dim\n    {NEW}except ImportError:\n    raise SystemExit from None\n{USED}",
    ),
    "a flag beside the import": (
        "try:\n    from torch.export import Dim, export\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
        f"if HAS:\n    {USE}",
        f"try:\n    from torch.export import export\n    {NEW}    HAS = True\nexcept ImportError:\n    HAS = False\n"
        f"if HAS:\n    {USED}",
    ),
    "a use in the branch": (
        f"import os\nif os.sep:\n    from torch.export import Dim, export\n    {USE}",
        f"import os\nif os.sep:\n    from torch.export import export\n    {NEW}    {USED}",
    ),
    "uses in two branches": (
        f"import os\nif os.sep:\n    from torch.export import Dim, export\n    {USE}"
        f"if os.name:\n    from torch.export import Dim, export\n    {USE}",
        f"import os\nif os.sep:\n    from torch.export import Dim, export\n    {NEW}    {USED}"
        f"if os.name:\n    from torch.export import Dim, export\n    {NEW}    {USED}",
    ),
}


@pytest.mark.parametrize("case", BRANCHES)
def test_imports_in_branches(case: str) -> None:
    before, after = BRANCHES[case]
    assert applied(before) == after


FILES = {
    "a name under an alias": (
        "from torch.export import Dim as D\n" + USE.replace("Dim", "D"),
        NEW + USED,
    ),
    "a dotted name": (
        "import torch\n" + USE.replace("Dim", "torch.export.Dim"),
        f"{NEW}" + USED,
    ),
    "a dotted name of what is used": (
        "import torch\nx = torch.ones(2)\n" + USE.replace("Dim", "torch.export.Dim"),
        f"import torch\n{NEW}x = torch.ones(2)\n" + USED,
    ),
    "a module under an alias": (
        "import torch.export as te\n" + USE.replace("Dim", "te.Dim"),
        NEW + USED,
    ),
    "a private module of torch": (
        "import torch\nimport torch._dynamo\n«torch._dynamo.mark_dynamic|ShapeVar»(0)\ntorch.compile\n",
        f"import torch\n{NEW}ShapeVar(0)\ntorch.compile\n",
    ),
    "the only import of torch": (
        "import torch._dynamo\n«torch._dynamo.mark_dynamic|ShapeVar»(0)\ntorch.compile\n",
        f"import torch._dynamo\n{NEW}ShapeVar(0)\ntorch.compile\n",
    ),
    "through a module": (
        f"import {SPECS} as ds\nfrom torch.export import Dim\n" + USE,
        f"import {SPECS} as ds\n" + USED.replace("ShapeVar", "ds.ShapeVar"),
    ),
    "a name that is taken": (
        "from torch.export import Dim\nShapeVar = 3\n" + USE,
        f'from {SPECS} import ShapeVar as ShapeVar_2\nShapeVar = 3\nb = ShapeVar_2("b")\n',
    ),
    "in a function": (
        "import os\n\ndef f():\n    from torch.export import Dim, export\n    " + USE,
        f"import os\n\ndef f():\n    from torch.export import export\n    {NEW}    " + USED,
    ),
    "in each of two functions": (
        "def f():\n    from torch.export import Dim\n    "
        + USE
        + "def g():\n    from torch.export import Dim\n    "
        + USE,
        f"def f():\n    {NEW}    {USED}def g():\n    {NEW}    {USED}",
    ),
    "in the file for all functions": (
        "from torch.export import Dim\ndef f():\n    " + USE + "def g():\n    " + USE,
        f"{NEW}def f():\n    {USED}def g():\n    {USED}",
    ),
    "a block for type checkers": (
        "from typing import TYPE_CHECKING\nfrom torch.export import Dim\n\nif TYPE_CHECKING:\n"
        "    from torch.export import Dim as Size\n\nx: «Size|ShapeVar» = «Dim|ShapeVar»('b')\n",
        f"{NEW}\nx: ShapeVar = ShapeVar('b')\n",
    ),
    "several names": (
        "from torch.export import Dim\nx = «{0: Dim('b')}|ShapesSpec({'x': TensorSpec([ShapeVar('b')])})»\n",
        f"from {SPECS} import ShapesSpec, ShapeVar, TensorSpec\nx = ShapesSpec({{'x': TensorSpec([ShapeVar('b')])}})\n",
    ),
    "on a line with others": ("import torch; from torch.export import Dim; " + USE, f"{NEW}import torch; " + USED),
    "of the standard library": (
        "from collections import OrderedDict\nfrom torch.export import Dim\nx = «OrderedDict(a=Dim('b'))|ShapesSpec({})»\n",
        f"from {SPECS} import ShapesSpec\nx = ShapesSpec({{}})\n",
    ),
    "of others, which may do more": (
        "from limits import MOST\nfrom torch.export import Dim\nx = «Dim('b', max=MOST)|ShapeVar('b', max=8)»\n",
        f"from limits import MOST\n{NEW}x = ShapeVar('b', max=8)\n",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_imports_of_a_file(case: str) -> None:
    before, after = FILES[case]
    assert applied(before) == after


def test_a_package_keeps_what_it_may_export() -> None:
    assert (
        applied("from torch.export import Dim\n" + USE, "pkg/__init__.py")
        == f"from torch.export import Dim\n{NEW}{USED}"
    )


def test_long_lists_are_broken() -> None:
    marked = "def f():\n    if 1:\n        if 1:\n            from torch.export import Dim\n            x = «Dim|TensorSpec(ShapesSpec(ShapeVar))»\n"
    text = applied(marked)
    assert (
        "(\n                ShapesSpec,\n                ShapeVar,\n                TensorSpec,\n            )\n"
        in text
    )
    assert max(map(len, text.splitlines())) <= 88


def test_what_was_unused_before_stays() -> None:
    text = applied("from torch.export import Dim, dims\n" + USE)
    assert text == f"from torch.export import dims\n{NEW}{USED}"
