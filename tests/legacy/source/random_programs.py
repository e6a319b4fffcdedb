"""Random programs with one to three legacy specs: imports, definitions, ways to build a spec, and places, combined."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from textwrap import indent

# How `Dim`, `dims` and `export` are imported and written.
_IMPORTS = (
    ("from torch.export import Dim, dims, export\n", "Dim", "dims", "export"),
    ("from torch.export import Dim as D, dims as ds, export as ex\n", "D", "ds", "ex"),
    ("import torch.export as te\n", "te.Dim", "te.dims", "te.export"),
    ("import torch\n", "torch.export.Dim", "torch.export.dims", "torch.export.export"),
)
_NET = """
class Net(torch.nn.Module):
    def forward(self, x, y, z=None):
        return x.sum() + y.sum()

x, y = torch.ones(4, 8), torch.ones(4)
"""


@dataclass
class Program:
    """A program as it grows.

    Attributes:
        draw: Where choices come from.
        dim, dims, export: How these are written.
        lines: Its text so far.
        sizes: The names of its Dims.
    """

    draw: random.Random
    dim: str
    dims: str
    export: str
    lines: str = ""
    sizes: list[str] = field(default_factory=list)

    def size(self) -> str:
        """Returns the name of a Dim, an old one or a new one."""
        if self.sizes and self.draw.random() < 0.4:
            return self.draw.choice(self.sizes)
        name = f"d{len(self.sizes)}"
        self.sizes.append(name)
        low = self.draw.choice(("", "min=1, ", "min=2, "))
        self.lines += self.draw.choice(
            (
                f'{name} = {self.dim}("{name}", {low}max={self.draw.choice(("8", "4 * 16"))})\n',
                f'{name} = {self.dim}("{name}")  # size {name}\n',
                f'{name}, {name}_o = {self.dims}("{name}", "{name}_o", max=64)\n',
            )
        )
        return name

    def argument(self, at: int) -> str:
        """Returns what passes a spec, after the lines that build it."""
        size, dim, pick = self.size(), self.dim, self.draw.choice
        other = pick(
            (
                "None",
                "8",
                f'{dim}("s{at}")',
                f"{dim}.AUTO",
                f"{dim}.DYNAMIC",
                f"{dim}.STATIC",
                f'2 * {dim}("h{at}")',
                size,
            )
        )
        x = pick((f"{{0: {size}}}", f"{{0: {size}, 1: {other}}}", f"({size}, {other})", f"{{1: {other}, 0: {size}}}"))
        y = pick((f"{{0: {size}}}", "None", f"[{size}]", "{}", f"{{0: 2 * {size}}}", f"{{-1: {size} + 1}}"))
        spec = f"spec{at}"
        ways = {
            f'{{"x": {x}, "y": {y}}}': "",
            f'{{\n    "x": {x},  # x{at}\n    # y{at}\n    "y": {y},\n}}': "",
            f"({x}, {y})": "",
            f"dict(x={x}, y={y})": "",
            f'{{name: {{0: {size}}} for name in ["x", "y"]}}': "",
            f'{{"x": {x}, "y": {y}}} if flag{at} else None': f'flag{at} = bool(len("a"))\n',
            f"_make{at}({size})": f'def _make{at}(size):\n    return {{"x": {{0: size}}, "y": {{0: size}}}}\n',
            f'{{**base{at}, "y": {y}}}': f'base{at} = {{"x": {x}}}\n',
            f'base{at} | {{"y": {y}}}': f'base{at} = {{"x": {x}}}\n',
            f"{spec}": f'{spec} = {{"x": {x}, "y": {y}}}  # spec{at}\n',
            f"({spec})": f'{spec} = {{}}\n{spec}["x"] = {x}\n{spec}.update(y={y})\n',
            f" {spec}": f'{spec} = dict()\nfor name in ("x", "y"):\n    # each{at}\n    {spec}[name] = {{0: {size}}}\n',
            f"other{at}": f'{spec} = {{"x": {x}}}\nother{at} = {spec}\nother{at}["y"] = {y}\n',
        }
        argument = pick(tuple(ways))
        self.lines += ways[argument]
        if ways[argument].startswith("spec") and self.draw.random() < 0.2:
            self.lines += f"print({spec})\n"
        return argument

    def site(self, at: int) -> None:
        """Adds a call."""
        tail = self.draw.choice(("", ", strict=False", ", preserve_module_call_signature=()"))
        call = f"ep = {self.export}(Net(), (x, y), dynamic_shapes={self.argument(at)}{tail})\n"
        inner = indent(call, "    ")
        self.lines += self.draw.choice(
            (
                call,
                f"def run{at}():\n{inner}    return ep\nrun{at}()\n",
                f"with torch.no_grad():\n{inner}",
                f"if x is not None:\n{inner}else:\n    pass\n",
                f"try:\n{inner}finally:\n    pass\n",
                f"if x is not None: {call}",
            )
        )


def program(seed: int) -> str:
    """Returns a program; the same for the same seed."""
    draw = random.Random(seed)
    imports, dim, dims, export = draw.choice(_IMPORTS)
    made = Program(draw, dim, dims, export)
    for at in range(draw.randint(1, 3)):
        made.site(at)
    top = draw.choice(("", '"""Doc."""\nfrom __future__ import annotations\n'))
    if draw.random() < 0.25:
        body = indent(imports + made.lines, "    ") if imports != "import torch\n" else indent(made.lines, "    ")
        return f"{top}import torch\n{_NET}\ndef main():\n{body}\nmain()\n"
    return f"{top}import torch\n{imports}{_NET}\n{made.lines}"
