"""The functions of the package, as users call them."""

from pathlib import Path

import shapedsl as sd
import torch
from shapedsl import Tensor
from shapedsl.dims import B, D
from torch.fx import GraphModule
from typing_extensions import assert_type  # noqa: UP035  # of `typing` since 3.11

file = sd.load(Path("net.shapes"), consts={"LIMIT": 3})
spec = file["f"]
assert_type(file, sd.SpecFile)
assert_type(spec, sd.Spec)
assert_type(sd.loads("def f(x: Tensor[B]): ...")["f"].normalize(), sd.Spec)
text: str = spec.to_json() + str(spec)


@sd.compile(spec="net.shapes:f", backend="eager")
def compiled(x: Tensor[B, D]) -> Tensor[B]:
    return x.sum(-1)


class Net(torch.nn.Module):
    def forward(self, x: Tensor[B, D]) -> Tensor[B]:
        return x.sum(-1)


assert_type(compiled(torch.zeros(3, 4)), torch.Tensor)
module: Net = sd.compile(Net(), spec)
program: torch.export.ExportedProgram = sd.export(module, (torch.zeros(3, 4),), spec=spec)
graph: GraphModule = sd.make_fx(compiled)(torch.zeros(3, 4))
found = sd.spec_of(Net().forward)
if found is not None:
    found.check(torch.zeros(3, 4))
    sizes = found.bind(torch.zeros(3, 4))
try:
    spec.normalize()
except sd.ShapeError as error:
    core: list[str] = error.core
    witness: dict[str, int] = error.witness
missing: list[str] = sd.attach(file, torch)

answer = spec.ask("B % 8 == 0", case="small")
verdict: str = answer.verdict
lines: list[str] = answer.core + spec.core()
smallest: dict[str, int | tuple[int, ...]] = answer.witness
proved: bool = bool(spec.ask(B < 32)) and bool(spec.ask((B >= 1) & ~(D > 2 * B)))
low: int | None = spec.range("2*B + 1").lo
high: int | None = spec.range(2 * B + 1).hi if spec.range(B).modulus == 1 else None
