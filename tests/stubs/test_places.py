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
