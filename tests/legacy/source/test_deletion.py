"""What goes with a deleted statement, argument or name: commas, lines, blocks; and what stays: comments."""

from __future__ import annotations

import pytest

from .plans import applied

CASES = {
    "an argument at the end": ("f(a, ⟦b=1⟧)\n", "f(a)\n"),
    "an argument at the front": ("f(⟦a=1⟧, b=2)\n", "f(b=2)\n"),
    "an argument in the middle": ("f(a, ⟦b=1⟧, c=2)\n", "f(a, c=2)\n"),
    "the only argument": ("f(⟦a=1⟧)\n", "f()\n"),
    "all arguments": ("f(⟦a=1⟧, ⟦b=2⟧)\n", "f()\n"),
    "before a trailing comma": ("f(a, ⟦b=1⟧,)\n", "f(a,)\n"),
    "the last two": ("f(a, ⟦b=1⟧, ⟦c=2⟧)\n", "f(a)\n"),
    "every other one": ("f(a, ⟦b=1⟧, c=2, ⟦d=3⟧)\n", "f(a, c=2)\n"),
    "a line of its own": ("f(\n    a,\n    ⟦b=1⟧,\n    c=2,\n)\n", "f(\n    a,\n    c=2,\n)\n"),
    "with a comment": ("f(\n    a,\n    ⟦b=1⟧,  # why\n    c=2,\n)\n", "f(\n    a,\n    # why\n    c=2,\n)\n"),
    "with a pragma": ("f(\n    a,\n    ⟦b=1⟧,  # noqa: X\n    c=2,\n)\n", "f(\n    a,\n    c=2,\n)\n"),
    "below a comment": ("f(\n    a,\n    # b\n    ⟦b=1⟧\n)\n", "f(\n    a,\n    # b\n)\n"),
    "the last of a line": ("f(a, ⟦b=1⟧,\n  c=2)\n", "f(a,\n  c=2)\n"),
    "on the last line": ("f(a,\n  ⟦b=1⟧)\n", "f(a)\n"),
    "the first of a line": ("f(⟦b=1⟧,\n  c=2)\n", "f(\n  c=2)\n"),
    "a name of an import": ("from m import ⟦a⟧, b\n", "from m import b\n"),
    "the last name": ("from m import a, ⟦b⟧\n", "from m import a\n"),
    "a name on its own line": ("from m import (\n    ⟦a⟧,\n    b,\n)\n", "from m import (\n    b,\n)\n"),
    "behind a backslash": ("from m import a, \\\n    ⟦b⟧\n", "from m import a\n"),
    "a line": ("a = 1\n⟦f(2)⟧\nb = 3\n", "a = 1\nb = 3\n"),
    "the first line": ("⟦f(2)⟧\n\nb = 3\n", "b = 3\n"),
    "a last line without an end": ("a = 1\n⟦f(2)⟧", "a = 1\n"),
    "between blank lines": ("a = 1\n\n⟦f(2)⟧\n\nb = 3\n", "a = 1\n\nb = 3\n"),
    "a comment behind": ("⟦f(2)⟧  # why\nb = 3\n", "# why\nb = 3\n"),
    "a comment above": ("# why\n⟦f(2)⟧\nb = 3\n", "# why\nb = 3\n"),
    "a block's only line": ("if x:\n    ⟦f(2)⟧  # why\n", "if x:\n    # why\n    pass\n"),
    "a block's last of two": ("if x:\n    a = 1\n    ⟦f(2)⟧\n", "if x:\n    a = 1\n"),
    "a whole block": ("def g():\n    ⟦f(2)⟧\n    ⟦f(3)⟧\n", "def g():\n    pass\n"),
    "a block on one line": ("if x: ⟦f(2)⟧\n", "if x: pass\n"),
    "one of two on one line": ("if x: ⟦f(2)⟧; a = 1\n", "if x: a = 1\n"),
    "the first of a line of statements": ("⟦f(2)⟧; a = 1  # a\n", "a = 1  # a\n"),
    "the last of a line of statements": ("a = 1; ⟦f(2)⟧\n", "a = 1\n"),
    "one between": ("a = 1; ⟦f(2)⟧; b = 3\n", "a = 1; b = 3\n"),
    "all of a line": ("a = 1\n⟦f(2)⟧; ⟦f(3)⟧;\nb = 3\n", "a = 1\nb = 3\n"),
    "a loop with comments": (
        "def g():\n    ⟦for a in b:\n        # each\n        f(a)⟧  # call\n    return 1\n",
        "def g():\n    # each\n    # call\n    return 1\n",
    ),
    "Windows' line ends": ("a = 1\r\n⟦f(2)⟧ # why\r\nb = 3\r\n", "a = 1\r\n# why\r\nb = 3\r\n"),
    "a hash in a string": ("⟦f('# no comment')⟧\nb = 3\n", "b = 3\n"),
    "tabs": ("if x:\n\t⟦f(2)⟧\n\ta = 1\n", "if x:\n\ta = 1\n"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_goes_with_it(case: str) -> None:
    marked, expected = CASES[case]
    assert applied(marked) == expected
