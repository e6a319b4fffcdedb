"""What a rewrite leaves without a use goes, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from .plans import applied

TOP = "from torch.export import Dim, ShapesCollection, dims, export\n"
CALL = "export(m, a, dynamic_shapes=«spec|None»)\n"
CALLED = "export(m, a, dynamic_shapes=None)\n"

# A body above the call whose `spec` is written there → what stays of it.
BODIES = {
    "a display": ("spec = {'x': {0: 1}}\n", ""),
    "a display of what else is used": ("b = Dim('b')\nspec = {'x': {0: b}}\nprint(b)\n", "b = Dim('b')\nprint(b)\n"),
    "a display of what nothing else uses": ("b = Dim('b')\nspec = {'x': {0: 2 * b + 1}}\n", ""),
    "dims at once": ("p, q = dims('p', 'q', max=8)\nspec = {'x': (p, q)}\n", ""),
    "dims of which one is used": (
        "a, b = dims('a', 'b')\nspec = {'x': (a, b)}\nprint(b)\n",
        "a, b = dims('a', 'b')\nprint(b)\n",
    ),
    "steps": (
        "spec = {}\nspec['x'] = {0: Dim('b')}\nspec['x'][1] = None\nspec.update(y=None)\nspec |= {'z': None}\n",
        "",
    ),
    "a loop": ("spec = {}\nfor n in ('x', 'y'):\n    spec[n] = {0: Dim(f'{n}_0')}\n", ""),
    "a loop with names of its own": (
        "spec = {}\nfor i, n in enumerate(['x', 'y']):\n    d = Dim(n)\n    if i:\n        spec[n] = {0: d}\n    else:\n        spec[n] = None\n",
        "",
    ),
    "a loop that does more": (
        "spec = {}\nfor n in ('x', 'y'):\n    print(n)\n    spec[n] = None\n",
        "for n in ('x', 'y'):\n    print(n)\n",
    ),
    "a loop whose last name is used": (
        "spec = {}\nfor n in ('x', 'y'):\n    spec[n] = None\nprint(n)\n",
        "for n in ('x', 'y'):\n    pass\nprint(n)\n",
    ),
    "names looped over": ("names = ['x', 'y']\nspec = {n: None for n in names}\n", ""),
    "names looped over elsewhere too": (
        "names = ['x', 'y']\nspec = {n: None for n in names}\nprint(names)\n",
        "names = ['x', 'y']\nprint(names)\n",
    ),
    "an alias": ("rows = {}\nspec = {'x': rows}\nrows[0] = Dim('b')\n", ""),
    "an alias of a part": ("spec = {'x': {}}\nrow = spec['x']\nrow[0] = Dim('b')\n", ""),
    "a collection": ("spec = ShapesCollection()\nspec[x] = {0: Dim('b')}\n", ""),
    "a collection of tensors that are used": (
        "x = make()\nspec = ShapesCollection()\nspec[x] = {0: Dim('b')}\nprint(x)\n",
        "x = make()\nprint(x)\n",
    ),
    "branches": ("if flag:\n    spec = {'x': None}\nelif other > 2:\n    spec = None\nelse:\n    spec = {}\n", ""),
    "a branch that does more": (
        "if flag:\n    spec = {'x': None}\nelse:\n    print()\n    spec = {}\n",
        "if flag:\n    pass\nelse:\n    print()\n",
    ),
    "a test that does more": (
        "if ask():\n    spec = {}\nelse:\n    spec = None\n",
        "if ask():\n    pass\nelse:\n    pass\n",
    ),
    "an annotation": ("spec: dict[str, object] = {}\n", ""),
    "a lambda": (
        "row = lambda n: {0: Dim(n)}\nspec = {}\n",
        "row = lambda n: {0: Dim(n)}\nspec = {}\n".replace("spec = {}\n", ""),
    ),
    "read later": ("spec = {}\nspec['x'] = None\nprint(spec)\n", "spec = {}\nspec['x'] = None\nprint(spec)\n"),
    "read in between": (
        "spec = {}\nprint(len(spec))\nspec['x'] = None\n",
        "spec = {}\nprint(len(spec))\nspec['x'] = None\n",
    ),
    "a part that is read": (
        "row = {}\nspec = {'x': row}\nspec['x'][0] = 1\nprint(row)\n",
        "row = {}\nspec = {'x': row}\nspec['x'][0] = 1\nprint(row)\n",
    ),
    "made by what may do more": ("spec = make()\n", "spec = make()\n"),
    "a value that does more": ("spec = {}\nspec['x'] = ask()\n", "spec = {}\nspec['x'] = ask()\n"),
    "unused before": ("other = Dim('o')\nspec = {}\n", "other = Dim('o')\n"),
    "exported": ("__all__ = ['spec']\nspec = {}\n", "__all__ = ['spec']\nspec = {}\n"),
    "found by its name": ("spec = {}\nprint(globals())\n", "spec = {}\nprint(globals())\n"),
    "an attribute": (
        "class A:\n    sizes = Dim('b')\n    spec = {0: sizes}\nspec = A.spec\n",
        "class A:\n    sizes = Dim('b')\n    spec = {0: sizes}\n",
    ),
    "deleted": ("spec = {}\ndel spec\n", ""),
    "deleted with others": (
        "spec = {}\nother = ask()\ndel spec, other\n",
        "spec = {}\nother = ask()\ndel spec, other\n",
    ),
    "an entry that is deleted": ("spec = {'x': None, 'y': None}\ndel spec['y']\n", ""),
    "on one line": ("a = 1; spec = {}; c = 2\n", "a = 1; c = 2\n"),
    "a comment": ("spec = {}  # by input\n", "# by input\n"),
}


@pytest.mark.parametrize("case", BODIES)
def test_what_built_a_spec(case: str) -> None:
    body, rest = BODIES[case]
    found = applied(f"{TOP}{body}{CALL}")
    assert found.partition("\n")[2] == f"{rest}{CALLED}"


DRAWN = "more = AdditionalInputs()\nmore.add((torch.randn(4),))\n"
ADDED = "import torch\nfrom torch.export import AdditionalInputs, export\n"


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        (DRAWN, ""),
        (DRAWN.replace("randn", "zeros"), ""),
        (f"torch.manual_seed(0)\n{DRAWN}", f"torch.manual_seed(0)\n{DRAWN}"),  # else other numbers are drawn later
        (f"torch.manual_seed(0)\n{DRAWN.replace('randn', 'zeros')}", "torch.manual_seed(0)\n"),
        (DRAWN.replace("torch.randn(4)", "load()"), DRAWN.replace("torch.randn(4)", "load()")),
        (f"{DRAWN}more.verify(ep)\n", f"{DRAWN}more.verify(ep)\n"),
    ],
    ids=["drawn", "made", "seeded", "made beside a seed", "of what may do more", "verified later"],
)
def test_additional_inputs(body: str, rest: str) -> None:
    found = applied(f"{ADDED}{body}export(m, a, dynamic_shapes=«more|None»)\n")
    assert found.partition("export\n")[2] == f"{rest}export(m, a, dynamic_shapes=None)\n"


@pytest.mark.parametrize("case", BODIES)
def test_in_a_function_too(case: str) -> None:
    if case in ("exported", "found by its name"):  # of a file's own names
        body, rest = "spec = {}\nprint(locals())\n", "spec = {}\nprint(locals())\n"
    else:
        body, rest = BODIES[case]

    def indented(text: str) -> str:
        return "".join(f"    {line}" for line in text.splitlines(keepends=True))

    found = applied(f"{TOP}def run(m, a):\n{indented(body)}    return {CALL}")
    assert found.partition("\n")[2] == f"def run(m, a):\n{indented(rest)}    return {CALLED}"


def test_a_parameter_is_somebody_elses() -> None:
    marked = f"{TOP}def run(spec, b):\n    spec['x'] = b\n    row = spec['y']\n    row[0] = b\n    {CALL}"
    assert "spec['x'] = b\n    row = spec['y']\n    row[0] = b\n" in applied(marked)


def test_a_global_that_a_function_changes() -> None:
    marked = f"{TOP}spec = {{}}\ndef add(n):\n    spec[n] = None\nadd('x')\n{CALL}"
    assert applied(marked).partition("\n")[2] == f"def add(n):\n    pass\nadd('x')\n{CALLED}"


def test_private_helpers_go_and_public_ones_stay() -> None:
    helper = "def {0}(n):\n    return {{0: Dim(n)}}\n"
    marked = TOP + helper.format("_row") + helper.format("row")
    marked += "export(m, a, dynamic_shapes=«{'x': _row('b'), 'y': row('c')}|None»)\n"
    assert applied(marked).partition("\n")[2] == helper.format("row") + CALLED


def test_lines_above_a_deleted_statement_take_its_place() -> None:
    from .plans import planned

    plan = planned(f"{TOP}for n in ('x',):\n    spec = {{n: None}}\n{CALL}")
    from shapedsl.frontends.legacy.source.rewriting.dead import sweep

    loop: Any = plan.tree.module.body[1]
    statement = loop.body.body[0]
    plan.insert_before(statement, ["b = 1"])
    sweep(plan)
    assert plan.apply() == f"{TOP}b = 1\n{CALLED}"


def test_time_grows_with_the_file() -> None:
    """The work is counted, not timed: places asked for."""
    from shapedsl.frontends.stubs.tree import Tree

    from .plans import planned

    counts: list[int] = []
    original = Tree.extent
    for size in (20, 40):
        body = "".join(
            f"b{i} = Dim('b{i}')\nspec{i} = {{}}\nspec{i}['x'] = {{0: b{i}}}\nexport(m, dynamic_shapes=«spec{i}|None»)\n"
            for i in range(size)
        )
        plan = planned(TOP + body)
        count = 0

        def counted(tree: Tree, node: object) -> tuple[int, int]:
            nonlocal count
            count += 1
            return original(tree, node)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tree, "extent", counted)
            from shapedsl.frontends.legacy.source.rewriting.dead import sweep

            sweep(plan)
            assert plan.apply().count("\n") == size + 1
        counts.append(count)
    assert counts[1] < 2.5 * counts[0]
