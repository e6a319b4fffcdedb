"""What rewriting makes of programs; the texts on the right are written by hand."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .rewriting import HEAD, kept, rewritten, whole

CASES = {
    "a shared dim": (
        """
        rows = Dim("rows", min=1, max=64)  # of a table
        export(Net(), (x, y), dynamic_shapes={"x": {0: rows}, "y": {0: rows}})
        """,
        """
        rows = ShapeVar("rows", min=1, max=64)  # of a table
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([rows, None]),
            "y": TensorSpec([rows, None]),
        }))
        """,
    ),
    "a tuple in the order of the signature": (
        """
        export(Net(), (x, y), dynamic_shapes=({0: Dim("n")}, None))
        """,
        """
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([ShapeVar("n"), None]),
            "y": None,
        }))
        """,
    ),
    "dims as a tuple, with what is static": (
        """
        n = Dim("n", max=None)
        export(One(), (x,), dynamic_shapes={"x": (n, Dim.STATIC)})
        export(One(), (x,), dynamic_shapes={"x": [n, 3]})
        export(One(), (x,), dynamic_shapes=((n, None),))
        """,
        """
        n = ShapeVar("n")
        export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, None])}))
        export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, 3])}))
        export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, None])}))
        """,
    ),
    "comments, trailing commas, parentheses": (
        """
        n = Dim("n")
        shapes = {
            # first
            "x": {
                0: n,  # the batch
                1: None,  # the width
            },
            "y": ({1: (n)}),  # the other
        }
        export(Net(), (x, y), dynamic_shapes=(shapes))
        """,
        """
        n = ShapeVar("n")
        shapes = ShapesSpec({
            # first
            "x": TensorSpec([
                n,  # the batch
                None,  # the width
            ]),
            "y": (TensorSpec([None, (n)])),  # the other
        })
        export(Net(), (x, y), dynamic_shapes=(shapes))
        """,
    ),
    "axes from the end, in any order": (
        """
        n, w = Dim("n"), Dim("w")
        export(Net(), (x, y), dynamic_shapes={"x": {-1: w, 0: n}, "y": {-2: n}})
        """,
        """
        n, w = ShapeVar("n"), ShapeVar("w")
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, w]),
            "y": TensorSpec([n, None]),
        }))
        """,
    ),
    "derived dims": (
        """
        n = Dim("n", min=2, max=8)
        twice = 2 * n
        export(Net(), (x, torch.ones(9, 2)), dynamic_shapes={"x": {0: n}, "y": {0: twice + 1}})
        """,
        """
        n = ShapeVar("n", min=2, max=8)
        twice = 2 * n
        export(Net(), (x, torch.ones(9, 2)), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, None]),
            "y": TensorSpec([twice + 1, None]),
        }))
        """,
    ),
    "a phantom root": (
        """
        export(One(), (x,), dynamic_shapes={"x": {0: 4 * Dim("q", min=1, max=16)}})
        """,
        """
        q_x4 = ShapeVar("q_x4", min=4, max=64)
        export(One(), (x,), dynamic_shapes=ShapesSpec(
            {
                "x": TensorSpec([q_x4, None]),
            },
            assumptions=[q_x4 % 4 == 0],
        ))
        """,
    ),
    "a phantom root with its definition": (
        """
        q = Dim("q", min=1, max=16)
        export(Net(), (x, y), dynamic_shapes={"x": {0: 4 * q}, "y": {1: 2 * q}})
        """,
        """
        q_x4 = ShapeVar("q_x4", min=4, max=64)
        q_x2 = ShapeVar("q_x2", min=2, max=32)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec(
            {
                "x": TensorSpec([q_x4, None]),
                "y": TensorSpec([None, q_x2]),
            },
            assumptions=[q_x4 % 4 == 0, q_x2 % 2 == 0, q_x4 == 2 * q_x2],
        ))
        """,
    ),
    "one name twice is one object": (
        """
        export(Net(), (x, y), dynamic_shapes={"x": {0: Dim("k", max=8)}, "y": {0: Dim("k", max=8)}})
        """,
        """
        k = ShapeVar("k", max=8)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([k, None]),
            "y": TensorSpec([k, None]),
        }))
        """,
    ),
    "one name twice, once with a definition": (
        """
        first = Dim("k", max=8)
        export(Net(), (x, y), dynamic_shapes={"x": {0: first}, "y": {0: Dim("k", max=8)}})
        """,
        """
        first = ShapeVar("k", max=8)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([first, None]),
            "y": TensorSpec([first, None]),
        }))
        """,
    ),
    "dynamic dims without a name": (
        """
        DYN = Dim.DYNAMIC
        export(Net(), (x, y), dynamic_shapes={"x": {0: DYN, 1: Dim.AUTO(min=2, max=9)}, "y": {0: DYN}})
        """,
        """
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([ShapeVar("x_0"), ShapeVar("x_1", min=2, max=9)]),
            "y": TensorSpec([ShapeVar("y_0"), None]),
        }))
        """,
    ),
    "one display for two inputs": (
        """
        n = Dim("n")
        rows = {0: n}
        export(Net(), (x, y), dynamic_shapes={"x": rows, "y": rows})
        """,
        """
        n = ShapeVar("n")
        rows = TensorSpec([n, None])
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({"x": rows, "y": rows}))
        """,
    ),
    "one display for inputs of two ranks": (
        """
        n = Dim("n")
        rows = {0: n}
        export(Net(), (x, torch.ones(4)), dynamic_shapes={"x": rows, "y": rows})
        """,
        """
        n = ShapeVar("n")
        rows = TensorSpec([n, None])
        export(Net(), (x, torch.ones(4)), dynamic_shapes=ShapesSpec({"x": rows, "y": TensorSpec([n])}))
        """,
    ),
    "two sites, one dim": (
        """
        n = Dim("n", max=8)
        a = export(One(), (x,), dynamic_shapes={"x": {0: n}})
        b = export(One(), (y,), dynamic_shapes=({1: n},))
        """,
        """
        n = ShapeVar("n", max=8)
        a = export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, None])}))
        b = export(One(), (y,), dynamic_shapes=ShapesSpec({"x": TensorSpec([None, n])}))
        """,
    ),
    "a dim that is used elsewhere stays": (
        """
        n = Dim("n", max=8)
        print(n)
        export(Net(), (x, y), dynamic_shapes={"x": {0: n}, "y": {0: n}})
        """,
        """
        n_var = ShapeVar("n", max=8)
        n = Dim("n", max=8)
        print(n)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n_var, None]),
            "y": TensorSpec([n_var, None]),
        }))
        """,
    ),
    "a spec that is used elsewhere stays": (
        """
        n = Dim("n", max=8)
        shapes = {"x": {0: n}, "y": {0: n}}
        print(shapes)
        export(Net(), (x, y), dynamic_shapes=shapes)
        """,
        """
        n_var = ShapeVar("n", max=8)
        n = Dim("n", max=8)
        shapes = {"x": {0: n}, "y": {0: n}}
        print(shapes)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n_var, None]),
            "y": TensorSpec([n_var, None]),
        }))
        """,
    ),
    "dims": (
        """
        n, w = dims("n", "w", min=2, max=8)
        export(One(), (x,), dynamic_shapes={"x": {0: n, 1: w}})
        """,
        """
        n, w = ShapeVar("n", min=2, max=8), ShapeVar("w", min=2, max=8)
        export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, w])}))
        """,
    ),
    "a helper": (
        """
        def shapes_for(limit):
            n = Dim("n", max=limit)
            return {"x": {0: n}, "y": {0: n}}

        export(Net(), (x, y), dynamic_shapes=shapes_for(32))
        """,
        """
        def shapes_for(limit):
            n = ShapeVar("n", max=limit)
            return ShapesSpec({"x": TensorSpec([n, None]), "y": TensorSpec([n, None])})

        export(Net(), (x, y), dynamic_shapes=shapes_for(32))
        """,
    ),
    "a helper that makes a dim each time": (
        """
        def rows():
            return Dim("rows", max=9)

        export(Net(), (x, y), dynamic_shapes={"x": {0: rows()}, "y": {0: rows()}})
        """,
        """
        def rows():
            return Dim("rows", max=9)

        rows_2 = ShapeVar("rows", max=9)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([rows_2, None]),
            "y": TensorSpec([rows_2, None]),
        }))
        """,
    ),
    "a branch": (
        """
        def trace(wide, dynamic):
            n = Dim("n", min=2, max=64)
            w = Dim("w") if wide else 3
            shapes = ({"x": {0: n, 1: w}, "y": {0: n}} if dynamic else None)
            return export(Net(), (x, y), dynamic_shapes=shapes)
        """,
        """
        def trace(wide, dynamic):
            n = ShapeVar("n", min=2, max=64)
            w = ShapeVar("w") if wide else 3
            shapes = (ShapesSpec({
                "x": TensorSpec([n, w]),
                "y": TensorSpec([n, None]),
            }) if dynamic else None)
            return export(Net(), (x, y), dynamic_shapes=shapes)
        """,
    ),
    "two definitions, one for each branch": (
        """
        def trace(flag):
            n = Dim("n")
            if flag:
                shapes = {"x": {0: n}}
            else:
                shapes = {"x": {1: n}}
            return export(One(), (x,), dynamic_shapes=shapes)
        """,
        """
        def trace(flag):
            n = ShapeVar("n")
            if flag:
                shapes = ShapesSpec({"x": TensorSpec([n, None])})
            else:
                shapes = ShapesSpec({"x": TensorSpec([None, n])})
            return export(One(), (x,), dynamic_shapes=shapes)
        """,
    ),
    "a key that a branch adds": (
        """
        def trace(both):
            n = Dim("n")
            shapes = {"x": {0: n}, "y": {0: n}}
            if both:
                shapes["y"] = {0: n, 1: Dim("m")}
            return export(Net(), (x, y), dynamic_shapes=shapes)
        """,
        """
        def trace(both):
            n = ShapeVar("n")
            shapes = {"x": TensorSpec([n, None]), "y": TensorSpec([n, None])}
            if both:
                shapes["y"] = TensorSpec([n, ShapeVar("m")])
            return export(Net(), (x, y), dynamic_shapes=ShapesSpec(shapes))
        """,
    ),
    "built in a loop": (
        """
        n = Dim("n", max=4)
        shapes = {}
        for name, cap in (("x", 77), ("y", 1500)):
            shapes[name] = {0: n, 1: Dim(f"{name}_len", min=1, max=cap)}
        shapes["y"][0] = 4
        export(Net(), (x, y), dynamic_shapes=shapes)
        """,
        """
        n = ShapeVar("n", max=4)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, ShapeVar("x_len", min=1, max=77)]),
            "y": TensorSpec([4, ShapeVar("y_len", min=1, max=1500)]),
        }))
        """,
    ),
    "a merge": (
        """
        n = Dim("n", max=4)
        common = {"x": {0: n}}
        export(Net(), (x, y), dynamic_shapes={**common, "y": {0: n}})
        """,
        """
        n = ShapeVar("n", max=4)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, None]),
            "y": TensorSpec([n, None]),
        }))
        """,
    ),
    "a collection": (
        """
        n = Dim("n", max=30)
        sc = ShapesCollection()
        sc[x] = (n, 3)
        sc[y] = {0: n}
        export(Net(), (x, y), dynamic_shapes=sc)
        """,
        """
        n = ShapeVar("n", max=30)
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, 3]),
            "y": TensorSpec([n, None]),
        }))
        """,
    ),
    "in a lambda, in a class": (
        """
        class Run:
            go = lambda self: export(Net(), (x, y), dynamic_shapes={"x": {0: Dim("k")}, "y": {0: Dim("k")}})
        """,
        """
        k = ShapeVar("k")
        class Run:
            go = lambda self: export(Net(), (x, y), dynamic_shapes=ShapesSpec({
                "x": TensorSpec([k, None]),
                "y": TensorSpec([k, None]),
            }))
        """,
    ),
    "a suite on one line": (
        """
        if x is not None: export(Net(), (x, y), dynamic_shapes={"x": {0: Dim("k")}, "y": {0: Dim("k")}})
        """,
        """
        if x is not None: k = ShapeVar("k"); export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([k, None]),
            "y": TensorSpec([k, None]),
        }))
        """,
    ),
    "a name that means something else later": (
        """
        n = Dim("n", max=8)  # rows
        export(One(), (x,), dynamic_shapes=({0: n},))
        n = 3
        """,
        """
        n = ShapeVar("n", max=8)  # rows
        export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, None])}))
        n = 3
        """,
    ),
    "comments of what goes, and of what moves": (
        """
        n = Dim(
            "n",  # the name
            min=3,  # at least
            max=None,  # no bound
        )
        shapes = {
            "x": {
                -1: Dim("m"),  # the width
                0: n,  # the batch
            }
        }
        export(One(), (x,), dynamic_shapes=shapes)
        """,
        """
        # no bound
        n = ShapeVar(
            "n",  # the name
            min=3,  # at least
        )
        shapes = ShapesSpec({
            "x": TensorSpec([
                n,  # the batch
                ShapeVar("m"),  # the width
            ])
        })
        export(One(), (x,), dynamic_shapes=shapes)
        """,
    ),
    "comments of a dict that is merged": (
        """
        n = Dim("n")
        base = {"x": {0: n}}
        export(Net(), (x, y), dynamic_shapes={
            # all of them
            **base,  # noqa: E501
            # a "#" of its own
            "y": (n, 2),  # as many
        }, strict=False)  # at last
        """,
        """
        n = ShapeVar("n")
        # all of them
        # a "#" of its own
        # as many
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, None]),
            "y": TensorSpec([n, 2]),
        }), strict=False)  # at last
        """,
    ),
    "comments of dicts that are joined, in a block": (
        """
        def run():
            n = Dim("n")
            return export(Net(), (x, y), dynamic_shapes={"x": {0: n}} | {
                "y": {0: n},  # as many
            })
        """,
        """
        def run():
            n = ShapeVar("n")
            # as many
            return export(Net(), (x, y), dynamic_shapes=ShapesSpec({
                "x": TensorSpec([n, None]),
                "y": TensorSpec([n, None]),
            }))
        """,
    ),
    "a name that only another function has": (
        """
        def one():
            h_x2 = 3
            return h_x2

        def two():
            return export(One(), (x,), dynamic_shapes={"x": {0: 2 * Dim("h", max=8)}})
        """,
        """
        def one():
            h_x2 = 3
            return h_x2

        def two():
            h_x2 = ShapeVar("h_x2", max=16)
            return export(One(), (x,), dynamic_shapes=ShapesSpec(
                {
                    "x": TensorSpec([h_x2, None]),
                },
                assumptions=[h_x2 % 2 == 0],
            ))
        """,
    ),
    "static entries of a dict": (
        """
        class Dicts(torch.nn.Module):
            def forward(self, batch, **more):
                return batch["a"]

        n = Dim("n")
        export(Dicts(), ({"a": x, "b": y},), {"c": x, "d": y}, dynamic_shapes={
            "batch": {"a": {0: n}, "b": None},
            "c": {0: n},
            "d": None,
        })
        """,
        """
        class Dicts(torch.nn.Module):
            def forward(self, batch, **more):
                return batch["a"]

        n = ShapeVar("n")
        export(Dicts(), ({"a": x, "b": y},), {"c": x, "d": y}, dynamic_shapes=ShapesSpec({
            "batch": DictSpec({"a": TensorSpec([n, None]), "b": None}),
            "**kwargs": {"c": TensorSpec([n, None]),
            "d": None},
        }))
        """,
    ),
    "annotations": (
        """
        n: Dim = Dim("n", max=8)

        def shapes() -> dict[str, object]:
            return {"x": {0: n}}

        export(One(), (x,), dynamic_shapes=shapes())
        """,
        """
        n: ShapeVar = ShapeVar("n", max=8)

        def shapes() -> ShapesSpec:
            return ShapesSpec({"x": TensorSpec([n, None])})

        export(One(), (x,), dynamic_shapes=shapes())
        """,
    ),
    "a dim of a class, and of an object": (
        """
        class Setup:
            n = Dim("n", max=8)
            m = Dim("m", max=8)

            def run(self):
                return export(One(), (x,), dynamic_shapes={"x": {0: Setup.n, 1: Setup.m}})

        print(Setup.m)
        """,
        """
        class Setup:
            n = ShapeVar("n", max=8)
            m = Dim("m", max=8)

            def run(self):
                return export(One(), (x,), dynamic_shapes=ShapesSpec({
                    "x": TensorSpec([Setup.n, ShapeVar("m", max=8)]),
                }))

        print(Setup.m)
        """,
    ),
    "dims that are unpacked, and written anew": (
        """
        n, m = Dim("n", max=8), Dim("m", max=8)
        k, l = dims("k", "l")
        shapes = {}
        shapes["x"] = {0: n, 1: k}
        shapes["y"] = {0: m, 1: l}
        export(Net(), (x, y), dynamic_shapes=shapes)
        """,
        """
        n, m = ShapeVar("n", max=8), ShapeVar("m", max=8)
        k, l = ShapeVar("k"), ShapeVar("l")
        export(Net(), (x, y), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, k]), "y": TensorSpec([m, l])}))
        """,
    ),
    "static in one branch": (
        """
        try:
            n = Dim("n", min=3)
        except AssertionError:
            n = None
        export(One(), (x,), dynamic_shapes={"x": {0: n}})
        """,
        """
        try:
            n = ShapeVar("n", min=3)
        except AssertionError:
            n = None
        export(One(), (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([n, None])}))
        """,
    ),
    "marks, in front of a decorated function": (
        """
        @torch.compile
        def double(a, b):
            return a + b

        torch._dynamo.mark_unbacked(x, 0, shape_id="k")
        torch._dynamo.mark_unbacked(y, 0, shape_id="k")
        double(x, y)
        """,
        """
        k = ShapeVar("k")
        @torch.compile(dynamic_shapes=ShapesSpec({"a": TensorSpec([k, None]), "b": TensorSpec([k, None])}))
        def double(a, b):
            return a + b

        double(x, y)
        """,
    ),
    "marks, and a call in several lines": (
        """
        t = torch.randn(4, 3)
        torch._dynamo.mark_dynamic(t, 0)  # rows
        fast = torch.compile(
            One(),
            backend="eager",
        )
        fast(t)
        """,
        """
        t = torch.randn(4, 3)
        # rows
        fast = torch.compile(
            One(),
            backend="eager",
            dynamic_shapes=ShapesSpec({"x": TensorSpec([ShapeVar("x_0"), None])}),
        )
        fast(t)
        """,
    ),
    "keyword arguments that are collected": (
        """
        class Many(torch.nn.Module):
            def forward(self, x, **more):
                return x.sum() + more["y"].sum()

        n = Dim("n")
        export(Many(), (x,), {"y": y, "z": y}, dynamic_shapes={
            "x": {0: n},
            "y": {0: n},  # the other
            "z": None,
        })
        """,
        """
        class Many(torch.nn.Module):
            def forward(self, x, **more):
                return x.sum() + more["y"].sum()

        n = ShapeVar("n")
        export(Many(), (x,), {"y": y, "z": y}, dynamic_shapes=ShapesSpec({
            "x": TensorSpec([n, None]),
            "**kwargs": {"y": TensorSpec([n, None]),  # the other
            "z": None},
        }))
        """,
    ),
    "options that are unpacked": (
        """
        n = Dim("n", max=8)
        options = {"dynamic_shapes": {"x": {0: n}}, "strict": False}
        export(One(), (x,), **options)
        """,
        """
        n = ShapeVar("n", max=8)
        options = {"dynamic_shapes": ShapesSpec({"x": TensorSpec([n, None])}), "strict": False}
        export(One(), (x,), **options)
        """,
    ),
}


@pytest.mark.parametrize("title", CASES)
def test_golden(title: str) -> None:
    before, after = CASES[title]
    assert rewritten(before) == dedent(after)


@pytest.mark.parametrize("title", CASES)
def test_rewriting_twice_changes_nothing_more(title: str) -> None:
    made, _ = whole(HEAD + dedent(CASES[title][0]))
    assert whole(made)[0] == made


@pytest.mark.parametrize("title", CASES)
def test_line_ends_and_tabs_stay(title: str) -> None:
    before, after = (dedent(text).replace("    ", "\t").replace("\n", "\r\n") for text in CASES[title])
    made, report = whole(HEAD.replace("    ", "\t").replace("\n", "\r\n") + before)
    assert not report.errors
    assert made.replace("# ---\r\n", "# ---\n").partition("# ---\n")[2] == after


def test_a_definition_stands_below_the_imports() -> None:
    made, _ = whole(
        dedent("""\
        import torch
        from torch.export import Dim, export
        n = Dim("n")
        print(n)
        class One(torch.nn.Module):
            def forward(self, x):
                return x
        export(One(), (torch.ones(3),), dynamic_shapes={"x": (n,)})
        """)
    )
    assert made == dedent("""\
        import torch
        from torch.export import Dim, export
        from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec
        n_var = ShapeVar("n")
        n = Dim("n")
        print(n)
        class One(torch.nn.Module):
            def forward(self, x):
                return x
        export(One(), (torch.ones(3),), dynamic_shapes=ShapesSpec({"x": TensorSpec([n_var])}))
        """)


KEPT = {
    "a rank that is not known": (
        """
        def trace(net, x):
            return export(net, (x,), dynamic_shapes={"x": {0: Dim("n")}})
        """,
        ["unknown-rank"],
    ),
    "a branch that gives none, of what is used elsewhere": (
        """
        def trace(flag):
            shapes = {"x": {0: Dim("n")}} if flag else None
            print(shapes)
            return export(One(), (x,), dynamic_shapes=shapes)
        """,
        ["legacy-flow"],
    ),
    "a spec that is bound to a function": (
        """
        from functools import partial
        def trace(net, args, shapes):
            return export(net, args, dynamic_shapes=shapes)
        go = partial(trace, shapes={"x": {0: Dim("n")}})
        go(One(), (x,))
        """,
        ["legacy-flow"],
    ),
    "options that are used elsewhere": (
        """
        options = {"dynamic_shapes": {"x": {0: Dim("n")}}}
        print(options)
        export(One(), (x,), **options)
        """,
        ["legacy-flow"],
    ),
}


@pytest.mark.parametrize("title", KEPT)
def test_what_cannot_be_rewritten_stays_whole(title: str) -> None:
    text, codes = KEPT[title]
    assert kept(text) == codes


@pytest.mark.parametrize(
    ("lines", "why", "built"),
    [
        (
            "partial(trace, shapes={'x': {0: Dim('n')}})(One(), (x,))",
            "something else may read it",
            "{'x': {0: Dim('n')}}",
        ),
        (
            "trace(One(), (x,), shapes := {'x': {0: Dim('n')}})\nprint(shapes)",
            "something else may read it",
            "{'x': {0: Dim('n')}}",
        ),
        ("s = {}\ns['x'] = {0: Dim('n')}\ntrace(One(), (x,), s)", "it is built by steps", "{}"),
    ],
    ids=["partial", "printed", "steps"],
)
def test_a_spec_of_callers_that_is_kept_says_why_and_where_it_is_built(lines: str, why: str, built: str) -> None:
    text = f"from functools import partial\ndef trace(net, args, shapes):\n    return export(net, args, dynamic_shapes=shapes)\n{lines}\n"
    made, report = whole(HEAD + text)
    assert made == HEAD + text
    (error,) = report.errors
    reason = f"the spec is its callers', and cannot be edited where they build it: {why}"
    assert error.message == f"{reason}, so the call stays as it is"
    assert [each.span.text for each in error.annotations if each.label == "built here"] == [built]
    assert error.helps == ("make it a ShapesSpec by hand where it is built", "write it at this call")


def test_a_spec_on_one_line_is_broken_at_its_items() -> None:
    name = "rows_of_the_whole_batch"
    text = rewritten(f"""
        def run():
            {name} = Dim("{name}")
            return export(Net(), (x, y), dynamic_shapes={{"x": {{0: {name}, 1: Dim("columns_of_one")}}, "y": {{0: {name}}}}})
        """)
    assert text == dedent(f"""
        def run():
            {name} = ShapeVar("{name}")
            return export(Net(), (x, y), dynamic_shapes=ShapesSpec({{
                "x": TensorSpec([{name}, ShapeVar("columns_of_one")]),
                "y": TensorSpec([{name}, None]),
            }}))
        """)
