"""``@shapes(check=True)``: the function stays what it was to everyone who looks at it, and each call is checked."""
# mypy: disable-error-code="name-defined,misc,valid-type,return-value,attr-defined,call-arg,unused-ignore"

from __future__ import annotations

import asyncio
import copy
import inspect
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="calls take tensors")

import shapedsl as sd
from shapedsl import Scalar, Tensor, shapes, where
from shapedsl.dims import B, D, N

SMALL = "B < 4"


def ones(*sizes: int) -> Any:
    return torch.ones(*sizes)


def refused(call: Callable[..., object], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(sd.ShapeError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


@shapes(check=True, where=SMALL)
def project(x: Tensor[B, D], /, n: Scalar[N] = 3, *rest: Tensor[D], k: int = 7, **more: object) -> tuple[object, ...]:
    """Says what it got."""
    return (x, n, rest, k, more)


def test_everything_that_was_passed_arrives() -> None:
    x, y = ones(3, 2), ones(2)
    assert project(x) == (x, 3, (), 7, {})
    assert project(x, 5, y, y, k=8, other=1) == (x, 5, (y, y), 8, {"other": 1})
    assert project(x, n=4) == (x, 4, (), 7, {})
    with pytest.raises(TypeError, match=r"project\(\) missing 1 required positional argument: 'x'"):
        project()


def test_it_looks_like_the_function() -> None:
    plain: Any = project.__wrapped__
    assert inspect.signature(project) == inspect.signature(plain)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        assert getattr(project, name) == getattr(plain, name)
    assert inspect.getsource(project) == inspect.getsource(plain)
    assert pickle.loads(pickle.dumps(project)) is project
    assert copy.deepcopy(project) is project
    assert sd.spec_of(project) == sd.spec_of(plain)


def test_attributes_are_kept() -> None:
    def f(x: Tensor[B]) -> None: ...

    f.mine = 3
    assert shapes(check=True)(f).mine == 3


def test_errors_name_the_function() -> None:
    assert f"in a call of `{__name__}.project`" in refused(project, ones(4, 2))
    assert f"in a call of `{__name__}.Net.forward`" in refused(Net(), ones(4))


def test_a_wrong_spec_is_told_at_the_first_call() -> None:
    @shapes(check=True)
    def wrong(x: Tensor["B +"]) -> None: ...  # noqa: F722

    assert "syntax-error" in refused(wrong, ones(3))
    assert "syntax-error" in refused(wrong, ones(3))


def test_a_default_is_checked_where_it_is_passed() -> None:
    @shapes(check=True, where="N >= 1")
    def f(x: Tensor[B], n: Scalar[N] = 0, *, m: Scalar[N] = 0) -> tuple[int, int]:
        return n, m

    assert f(ones(2)) == (0, 0)
    assert f(ones(2), 3, m=3) == (3, 3)
    assert "N >= 1" in refused(f, ones(2), 0)
    assert "N >= 1" in refused(f, ones(2), m=0)


def test_names_of_ours_are_free() -> None:
    @shapes(check=True, _s_check="B, 2")
    def f(_s_target: int, _s_check: Any, _s_tracing: int = 1) -> tuple[object, ...]:
        return _s_target, _s_check, _s_tracing

    x = ones(3, 2)
    assert f(1, x) == (1, x, 1)
    refused(f, 1, ones(3, 3))


def test_a_parameter_may_be_called_self() -> None:
    @shapes(check=True)
    def f(x: Tensor[B], *, self: Tensor[B], args: int = 1) -> tuple[object, ...]:
        return x, self, args

    x = ones(3)
    assert f(x, self=x) == (x, x, 1)
    refused(f, x, self=ones(2))
    spec = sd.spec_of(f)
    assert spec is not None
    spec.check(x, self=x)
    assert spec.bind(x, self=x) == {"B": 3}


class Net(torch.nn.Module):
    @shapes(check=True, where=SMALL)
    def forward(self, x: Tensor[B]) -> Tensor[B]:
        return x + 1

    @shapes(check=True, where=SMALL)
    @staticmethod
    def static(x: Tensor[B]) -> Tensor[B]:
        return x

    @classmethod
    @shapes(check=True, where=SMALL)
    def of_class(cls, x: Tensor[B]) -> type:
        return cls


class Child(Net):
    @shapes(check=True, where="B > 1")
    def forward(self, x: Tensor[B]) -> Tensor[B]:
        return super().forward(x)


def test_methods() -> None:
    for call in (Net(), Net().forward, Net.static, Net().static, Net.of_class, Child().of_class):
        call(ones(3))
        refused(call, ones(4))
    assert Child.of_class(ones(2)) is Child


def test_an_overriding_method_and_the_one_it_calls_are_both_checked() -> None:
    Child()(ones(3))
    assert "Child.forward" in refused(Child(), ones(1))
    assert "Net.forward" in refused(Child(), ones(4))


def test_a_class_has_each_of_its_methods_checked() -> None:
    @shapes(check=True, where=SMALL)
    class Whole(torch.nn.Module):
        def forward(self, x: Tensor[B]) -> Tensor[B]:
            return self.scale(x)

        def scale(self, x: Tensor[B]) -> Tensor[B]:
            return x * 2

        def other(self, x: Any) -> Any:
            return x

    assert isinstance(Whole, type)
    whole = Whole()
    whole(ones(3))
    whole.other(ones(9))
    refused(whole, ones(4))
    refused(whole.scale, ones(2, 2))
    assert pickle.loads(pickle.dumps(Net()))(ones(3)).shape == (3,)


def test_a_decorator_that_checks_twice_checks_once() -> None:
    once = shapes(check=True, x="B")(lambda x: x)
    assert shapes(check=True)(once) is once


def test_a_coroutine_function_stays_one() -> None:
    @shapes(check=True, where=SMALL)
    async def f(x: Tensor[B]) -> int:
        await asyncio.sleep(0)
        return x.shape[0]

    assert inspect.iscoroutinefunction(f)
    assert asyncio.run(f(ones(3))) == 3
    refused(asyncio.run, f(ones(4)))


def test_a_generator_function_stays_one() -> None:
    @shapes(check=True, where=SMALL)
    def f(x: Tensor[B]) -> Iterator[Any]:
        got = yield x
        try:
            yield got
        except KeyError:
            yield "caught"
        return "end"

    assert inspect.isgeneratorfunction(f)
    running: Any = f(ones(3))
    assert next(running).shape == (3,)
    assert running.send("sent") == "sent"
    assert running.throw(KeyError()) == "caught"
    with pytest.raises(StopIteration, match="end"):
        next(running)
    refused(next, f(ones(4)))


def test_an_asynchronous_generator_function_stays_one() -> None:
    log: list[object] = []

    @shapes(check=True, where=SMALL)
    async def f(x: Tensor[B]) -> AsyncIterator[Any]:
        try:
            got = yield x.shape[0]
            log.append(got)
            try:
                yield 2
            except KeyError:
                yield "caught"
            yield "last"
        finally:
            log.append("closed")

    async def drive() -> None:
        running: Any = f(ones(3))
        assert await running.__anext__() == 3
        assert await running.asend("sent") == 2
        assert await running.athrow(KeyError()) == "caught"
        await running.aclose()
        assert [each async for each in f(ones(2))] == [2, 2, "last"]
        with pytest.raises(sd.ShapeError):
            await f(ones(4)).__anext__()

    assert inspect.isasyncgenfunction(f)
    asyncio.run(drive())
    assert log == ["sent", "closed", None, "closed"]


def test_torch_obeys_the_spec_of_a_checked_function() -> None:
    graphs: list[Any] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph

    @shapes(check=True, where="B <= 64")
    def f(x: Tensor[B, 2], n: int = 3) -> Tensor[B, 2]:
        return x * n if x.shape[0] <= 64 else x

    run = torch.compile(f, backend=backend, fullgraph=True)
    for size in (5, 6, 64):
        assert torch.equal(run(ones(size, 2)), 3 * ones(size, 2))
    assert len(graphs) == 1  # the branch is decided, and no size is baked in
    program = torch.export.export(Net(), (ones(3),))
    assert program.module()(ones(2)).shape == (2,)  # not specialized: the attached spec says B
    assert sd.compile(f, backend="eager")(ones(7, 2)).shape == (7, 2)


def test_what_is_said_above_a_checked_function_counts() -> None:
    @where(B > 1)
    @shapes(x="B, 2")
    @shapes(check=True, where=SMALL)
    def f(x: Any) -> Any:
        return x

    f(ones(3, 2))
    for bad in (ones(1, 2), ones(4, 2), ones(3, 3)):
        refused(f, bad)
    run = torch.compile(f, backend="eager", fullgraph=True)
    assert [run(ones(size, 2)).shape[0] for size in (2, 3)] == [2, 3]


def test_a_function_that_was_checked_before_torch_was_imported(tmp_path: Path) -> None:
    """Then nobody could ask torch whether it traces; a graph must not change when it can be asked."""
    script = tmp_path / "early.py"
    script.write_text(
        "import sys\n"
        "from shapedsl import Tensor, shapes, ShapeError\n"
        "@shapes(check=True, where='B < 4')\n"
        "def f(x: Tensor['B']): return x + 1\n"
        "assert 'torch' not in sys.modules and 'shapedsl.ir' not in sys.modules\n"
        "import torch\n"
        "graphs = []\n"
        "run = torch.compile(f, backend=lambda g, _: graphs.append(g) or g, fullgraph=True)\n"
        "run(torch.ones(2)), f(torch.ones(3)), run(torch.ones(3))\n"
        "try: f(torch.ones(4))\n"
        "except ShapeError: print(len(graphs))\n"
    )
    command = [sys.executable, str(script)]
    environment = {**os.environ, "PYTHONPATH": str(Path(sd.__file__).parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr


def test_a_graph_around_a_checked_function_is_one() -> None:
    class Around(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return Net.static(x) * 2

    program = torch.export.export(Around(), (ones(3),), strict=True)
    assert torch.equal(program.module()(ones(3)), 2 * ones(3))
    run = torch.compile(Around(), backend="eager", fullgraph=True)
    assert torch.equal(run(ones(3)), 2 * ones(3))


def test_a_symbolic_trace_is_no_call() -> None:
    assert "add" in torch.fx.symbolic_trace(Net()).code


def test_a_bound_method_can_be_checked() -> None:
    class Plain:
        def f(self, x: Any) -> Any:
            return x

    checked = shapes(check=True, x="B", where=SMALL)(Plain().f)
    assert checked(ones(3)).shape == (3,)
    refused(checked, ones(4))


def test_a_traceback_shows_lines_of_the_source_only() -> None:
    @shapes(check=True)
    def fails(x: Tensor[B]) -> None:
        raise KeyError

    assert fails.__code__.co_filename == __file__  # where it stands decides for some decorators what to do
    with pytest.raises(KeyError) as caught:
        fails(ones(3))
    frames = traceback.extract_tb(caught.value.__traceback__)
    shown = [(frame.filename, frame.name, frame.line) for frame in frames[1:]]
    assert shown == [(__file__, "fails", "@shapes(check=True)"), (__file__, "fails", "raise KeyError")]
    assert "^" not in "".join(traceback.format_list(frames[1:2]))
