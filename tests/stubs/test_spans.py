"""Places of nodes are those that libcst's own providers find."""

from __future__ import annotations

import libcst
import pytest
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper, ParentNodeProvider

from shapedsl.frontends.stubs.spans import parents_of, spans_of

TEXT = '''\
#!/usr/bin/env python
"""Größe: 🦊."""
from a import (b as c,  # why
    d,)

@deco(  1)  # ünïcode
async def f(x: int = 1, /, *args: "é", y, **kw) -> None:
\tif x: pass; return
\telif (y): ...
\telse:
\t\twith (open(x) as z, q): del z[1:, ::2]
    # a comment that is less indented

class C[T](Base, metaclass = M): x: int = 3 ;
lam = lambda *a, b = 2: (yield)
s = f"{x!r:>{width}} {{}}" "é" 'b'
try: t = {**a, 'k': [i async for i in "💡" if not i]}
except* E as e: raise X from None
finally:
    match x:
        case {"a": 1, **rest} | [*_, (2)] if x: ...
    print(a  .  b [ 1 ] ( 2 , ) @ - c)
'''


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT, id="unix"),
        pytest.param(TEXT.replace("\n", "\r\n"), id="crlf"),
        pytest.param(TEXT.rstrip("\n"), id="no newline at the end"),
        pytest.param("x = 1\r\ny = 2\nz = 3\r", id="mixed newlines"),
        pytest.param("# é\n\n", id="only a comment"),
        pytest.param("pass", id="one word"),
    ],
)
def test_spans_and_parents(text: str) -> None:
    module = libcst.parse_module(text)
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    points = [0]
    for character in f"{text}\n":  # the newline that a last line lacks is counted
        points.append(points[-1] + len(character.encode()))
    spans = {
        node: (points.index(span.start), points.index(span.start + span.length))
        for node, span in wrapper.resolve(ByteSpanPositionProvider).items()
        if node is not module
    }
    assert {node: span for node, span in spans_of(module).items() if node is not module} == spans
    assert parents_of(module) == dict(wrapper.resolve(ParentNodeProvider))
