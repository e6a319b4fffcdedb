"""Where the parts of a stub stand, as messages show them."""

from __future__ import annotations

from pathlib import Path

import pytest

import shapedsl as sd

pytest.importorskip("libcst", reason="stubs are read with it")


def test_a_parameters_name_is_shown_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.pyi"
    path.write_text(
        "from shapedsl import Tensor\n"
        "def f(\n"
        '    x: Tensor["B"], y=...,\n'
        '    *rest: Tensor["B"], key: Tensor["B"], **named: int,\n'
        ") -> None: ...\n"
    )
    spans = {param.name: param.span for param in sd.from_stub(path)["f"].signature.params}
    shown = {name: (span.source.position(span.start), span.text) for name, span in spans.items() if span is not None}
    assert shown == {
        "x": ((3, 5), "x"),
        "y": ((3, 21), "y"),
        "rest": ((4, 6), "rest"),
        "key": ((4, 25), "key"),
        "named": ((4, 45), "named"),
    }


def test_a_where_that_no_method_can_have_is_told_once(tmp_path: Path) -> None:
    """``flag`` stands in no parameter: an assumption is never dropped, and a class has one place for all its methods."""
    path = tmp_path / "a.pyi"
    path.write_text(
        "from shapedsl import Tensor, shapes\n"
        '@shapes("""\n'
        "const flag = _\n"
        "where B >= flag\n"
        '""")\n'
        "class Net:\n"
        '    def forward(self, x: Tensor["B"]) -> None: ...\n'
        '    def other(self, x: Tensor["B"], y: Tensor["T"]) -> None: ...\n'
    )
    with pytest.raises(sd.ShapeError) as caught:
        sd.from_stub(path)
    assert [(each.code, each.message) for each in caught.value.diagnostics] == [
        ("unbound-name", "no method binds `B`, `flag`")
    ]
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert (span.text, span.source.position(span.start)) == ("where B >= flag", (4, 1))
