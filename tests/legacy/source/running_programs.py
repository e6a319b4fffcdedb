"""Random programs, run by Python and by the interpreter: what Python has at a call must be among what is told of it.

A program calls ``see(number, value)``. ``flag()`` is true or false at random, ``mess(value)`` stands for code elsewhere: it
changes what it is given, or was given before, and calls functions that it knows. At the end, each function of the
module is called, as other modules may.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import random
from typing import TYPE_CHECKING, Any

from shapedsl.frontends.legacy.source.values import Callable, Constant, Dict, DimValue, Fork, Sequence, Unknown

from .told import listen

if TYPE_CHECKING:
    from collections.abc import Callable as Function

NAMES = ("a", "b", "c", "d")
KEYS = ('"x"', '"y"', "0")


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.number = 0
        self.functions: list[str] = []
        self.depth = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def built(self, *choices: Function[[], str]) -> str:
        return self.random.choice(choices)()

    def name(self) -> str:
        return self.random.choice(NAMES)

    def dict_name(self) -> str:
        return self.random.choice("ab")

    def expression(self, depth: int = 0) -> str:
        """Returns an expression of any kind."""
        pick = self.random.random()
        if self.functions and pick < 0.1:
            return f"{self.random.choice(self.functions)}({self.expression(depth + 1)})"
        if depth > 2 or pick < 0.35:
            return self.pick(self.name(), self.name(), str(self.random.randint(0, 3)), "None", '"x"')
        if pick < 0.55:
            return self.dict(depth + 1)
        if pick < 0.7:
            return self.list(depth + 1)

        def inner() -> str:
            return self.expression(depth + 1)

        return self.built(
            lambda: f"({inner()}, {inner()})",
            lambda: f"({inner()} if flag() else {inner()})",
            lambda: f"({self.name()} {self.pick('and', 'or')} {inner()})",
            lambda: f"{self.dict_name()}.get({self.pick(*KEYS)}{self.pick('', ', ' + self.name())})",
            lambda: f"{self.dict_name()}.setdefault({self.pick(*KEYS)}, {inner()})",
            lambda: f"{self.dict_name()}.pop({self.pick(*KEYS)}, None)",
            lambda: f"(d := {inner()})",
            lambda: f'Dim("n{self.random.randint(0, 2)}")',
            lambda: f"(lambda: {inner()})()",
            lambda: f"(lambda p: {self.pick('p', inner())})({inner()})",
            lambda: f"len({self.pick(*'abc')})",
            lambda: f"isinstance({self.name()}, dict)",
            lambda: f"({self.name()} is None)",
            lambda: f"({self.pick(*KEYS)} in {self.dict_name()})",
            lambda: f"mess({self.name()})",
            lambda: f"Box({self.name()}).x",
            lambda: f"copy.{self.pick('copy', 'deepcopy')}({self.name()})",
            lambda: f"{self.dict_name()}[{self.pick(*KEYS)}]",
            lambda: "c[0]",
            lambda: "c[-1]",
            lambda: f"{self.dict_name()}.get(mess(None))",
            lambda: f"next(iter({self.pick('c', 'a.values()')}), None)",
            lambda: "max(c, key=id, default=None)",
            lambda: f"zip({self.pick('c', 'a.values()')})",
            lambda: f"Items({self.name()})[{inner()}]",
            lambda: "(d + 1 if isinstance(d, Items) else d)",
            lambda: f"Point(1, {inner()})._replace(x={inner()})",
            lambda: "[*map(mess, c)]",
            lambda: f"f'{{{self.pick('d', 'len(c)')}}}'",
        )

    def dict(self, depth: int = 0) -> str:
        """Returns an expression that is mostly a dict."""

        def inner() -> str:
            return self.expression(depth + 1)

        return self.built(
            self.dict_name,
            lambda: f"{{{self.pick(*KEYS)}: {inner()}, {self.pick(*KEYS)}: {inner()}}}",
            lambda: f"{{{self.pick(*KEYS)}: {inner()}}}",
            lambda: f"{{**{self.dict_name()}, {self.pick(*KEYS)}: {inner()}}}",
            lambda: f"({self.dict_name()} | {self.dict_name()})",
            lambda: f"{{k: {inner()} for k in {self.pick('(0, 1)', self.dict_name())}}}",
            lambda: (
                f"{{k: {self.pick('v', inner())} for k, v in {self.dict_name()}.items(){self.pick('', ' if flag()')}}}"
            ),
            lambda: f"dict({self.dict_name()})",
            lambda: f"dict(x={inner()})",
            lambda: f"{self.dict_name()}.copy()",
            lambda: f"({self.dict_name()} if flag() else {self.dict_name()})",
            lambda: f"copy.{self.pick('copy', 'deepcopy')}({self.dict_name()})",
            lambda: f"dict(zip(({self.pick(*KEYS)},), [{inner()}]))",
        )

    def list(self, depth: int = 0) -> str:
        """Returns an expression that is mostly a list."""

        def inner() -> str:
            return self.expression(depth + 1)

        return self.built(
            lambda: "c",
            lambda: f"[{inner()}, {inner()}]",
            lambda: f"[*c, {inner()}]",
            lambda: f"[{self.pick('q', inner())} for q in {self.pick('c', 'a')}{self.pick('', ' if flag()', ' if q')}]",
            lambda: f"list({self.dict_name()}.{self.pick('values', 'keys', 'items')}())",
            lambda: f"list(zip({self.pick('a', 'c')}, c))",
            lambda: f"[{inner()}] * 2",
            lambda: "(c + c)[:4]",
            lambda: f"(c if flag() else [{inner()}])",
        )

    def write(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def see(self, indent: int) -> None:
        self.write(indent, f"see({self.number}, {self.name()})")
        self.number += 1

    def block(self, indent: int, count: int, *, in_loop: bool = False, in_function: bool = False) -> None:
        for _ in range(count):
            self.statement(indent, in_loop=in_loop, in_function=in_function)
        self.see(indent)

    def statement(self, indent: int, *, in_loop: bool, in_function: bool) -> None:
        pick = self.random.random()
        write = functools.partial(self.write, indent)
        size = self.random.randint(1, 3)
        deep = indent > 3
        if pick < 0.28 or (deep and pick > 0.6):
            write(
                self.built(
                    lambda: f"{self.dict_name()} = {self.dict()}",
                    lambda: f"c = {self.list()}",
                    lambda: f"d = {self.expression()}",
                )
            )
        elif pick < 0.38:
            write(f"{self.dict_name()}[{self.pick(*KEYS)}] = {self.expression()}")
        elif pick < 0.46:
            write(
                self.built(
                    lambda: f"{self.dict_name()}.update({self.dict()})",
                    lambda: f"c.append({self.expression()})",
                    lambda: f"c += [{self.expression()}]",
                    lambda: f"{self.dict_name()} |= {{{self.pick(*KEYS)}: {self.expression()}}}",
                    lambda: f"{self.dict_name()}.pop({self.pick(*KEYS)}, None)",
                    lambda: f"{self.dict_name()} = b = {self.dict()}",
                    lambda: f"d, {self.dict_name()} = {self.expression()}, {self.dict()}",
                    lambda: f"d, *c = {self.list()}",
                    lambda: "d = Box(a)\nd.x = b\nd = d.x".replace("\n", "\n" + "    " * indent),
                    lambda: f"d = Box({self.name()})",
                    lambda: f"if isinstance(d, Box): d.x = {self.name()}",
                    lambda: "if isinstance(d, Box): d = d.x",
                    lambda: f"if isinstance(d, dict): d[{self.pick(*KEYS)}] = {self.expression()}",
                    lambda: f"if isinstance(a.get('x'), dict): a['x'][{self.pick(*KEYS)}] = {self.expression()}",
                    lambda: "d = 1\nd += 2".replace("\n", "\n" + "    " * indent),
                    lambda: "c.insert(0, c.pop())",
                    lambda: f"if isinstance(d, Items): d[0] = {self.expression()}",
                    lambda: f"d = Items({self.name()})",
                    lambda: "for d in d if isinstance(d, zip) else (): pass",
                    lambda: (
                        f"if isinstance(d, (dict, list)): d[0 if isinstance(d, dict) else -1] = {self.expression()}"
                    ),
                    lambda: f"if isinstance(d, list): d += [{self.expression()}]",
                    lambda: f"if isinstance(d, dict): d |= {self.dict()}",
                    lambda: f"a['x'] = d = {self.expression()}",
                    lambda: f"if type(d) is tuple and d and isinstance(d[0], dict): d[0]['x'] = {self.expression()}",
                    lambda: "del d",
                )
            )
        elif pick < 0.5:
            write(f"mess({self.name()})")
        elif pick < 0.56:
            self.see(indent)
        elif pick < 0.6 and in_function:
            write(f"return {self.name()}")
        elif pick < 0.68:
            write(f"if {self.pick('flag()', self.name(), f'{self.name()} is None')}:")
            self.block(indent + 1, size, in_loop=in_loop, in_function=in_function)
            if self.random.random() < 0.6:
                write("else:")
                self.block(indent + 1, size, in_loop=in_loop, in_function=in_function)
        elif pick < 0.78:
            over = self.pick("(0, 1)", "range(2)", "c", "a", "(mess(None) or [])", f'[{self.expression()}, "x"]')
            target = self.pick("d", "d", self.name())
            write(self.pick(f"for {target} in {over}:", f"for d in {over}:", "while flag():"))
            self.block(indent + 1, size, in_loop=True, in_function=in_function)
            if self.random.random() < 0.3:
                write("else:")
                self.block(indent + 1, 1, in_loop=in_loop, in_function=in_function)
        elif pick < 0.81 and in_loop:
            write("if flag():")
            self.write(indent + 1, self.pick("break", "continue"))
        elif pick < 0.87:
            write("try:")
            self.block(indent + 1, size, in_loop=in_loop, in_function=in_function)
            write("except Exception:")
            self.block(indent + 1, 1, in_loop=in_loop, in_function=in_function)
            if self.random.random() < 0.4:
                write("finally:")
                self.block(indent + 1, 1, in_loop=False, in_function=False)
        elif pick < 0.89:
            write("with harness.quiet():")
            self.block(indent + 1, size, in_loop=in_loop, in_function=in_function)
        elif pick < 0.97:
            self.function(indent)
        else:
            write(f"match {self.name()}:")
            self.write(indent + 1, 'case {"x": d}:')
            self.block(indent + 2, 1, in_loop=in_loop, in_function=in_function)
            self.write(indent + 1, "case _:")
            self.block(indent + 2, 1, in_loop=in_loop, in_function=in_function)

    def function(self, indent: int) -> None:
        name = f"f{len(self.functions)}"
        if self.random.random() < 0.15:
            self.write(indent, "@harness.register")
        self.write(indent, f"def {name}(p=None):")
        if self.random.random() < 0.5:
            self.write(indent + 1, f"global {self.pick('a', 'b', 'c', 'd')}")
        local = self.random.random() < 0.4
        if local:
            self.write(indent + 1, "a = {'x': p}")
        self.write(indent + 1, "c, d = [p], p" if self.random.random() < 0.4 else "pass")
        self.block(indent + 1, self.random.randint(1, 4), in_function=True)
        if self.random.random() < 0.5:
            self.write(indent + 1, f"return {self.expression()}")
        self.functions.append(name)
        if self.random.random() < 0.2:
            self.write(indent, f"{self.name()} = {name}")

    def program(self) -> str:
        self.write(0, "import copy, harness")
        self.write(0, "from harness import see, mess, flag\nfrom torch.export import Dim")
        self.write(0, "class Box:")
        self.write(0, "    def __init__(self, x):")
        self.write(0, "        self.x = x")
        self.write(0, "class Items:")
        self.write(0, "    last = None")
        self.write(0, "    def __init__(self, x):")
        self.write(0, "        self.x = x")
        self.write(0, "    def __getitem__(self, k):")
        self.write(0, "        global d")
        self.write(0, "        Items.last = d = self.x")
        self.write(0, "        return self.x")
        self.write(0, "    def __setitem__(self, k, v):")
        self.write(0, "        a['y'] = v")
        self.write(0, "    def __add__(self, n):")
        self.write(0, "        b['y'] = n")
        self.write(0, "        return self")
        self.write(0, "Point = __import__('collections').namedtuple('Point', 'x y')")
        self.write(0, f"a = {self.pick('{}', '{0: 1}')}")
        self.write(0, f"b = {self.pick('{}', 'a', '{0: a}')}")
        self.write(0, f"c = {self.pick('[]', '[a, b]')}")
        self.write(0, "d = None")
        self.block(0, self.random.randint(4, 12))
        return "\n".join(self.lines) + "\n"


class Dim:
    """What stands for a dim when Python runs a program."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __deepcopy__(self, memo: Any) -> Dim:
        return self


class StopError(BaseException):
    """The run took too long."""


def run(text: str, seed: int) -> list[tuple[int, Any]]:
    """Returns what ``see`` was given when Python runs a program once, with chances of its own."""
    chance = random.Random(seed)
    heard: list[tuple[int, Any]] = []
    known: list[Any] = []
    depth = 0

    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks > 400:
            raise StopError

    def see(number: int, value: Any) -> None:
        tick()
        heard.append((number, copied(value)))

    def flag() -> bool:
        tick()
        return chance.random() < 0.5

    def disturb(value: Any, deep: int = 0) -> None:
        if isinstance(value, dict):
            if chance.random() < 0.4:
                value[chance.choice(["x", "y", 0])] = "disturbed"
            for each in list(value.values()):
                disturb(each, deep + 1)
        elif isinstance(value, list):
            if chance.random() < 0.4:
                value.append("disturbed")
            for each in list(value):
                disturb(each, deep + 1)
        elif isinstance(value, tuple):
            for each in value:
                disturb(each, deep + 1)
        elif (
            hasattr(value, "__dict__") and not isinstance(value, Dim) and not callable(value) and chance.random() < 0.4
        ):
            value.x = "disturbed"

    def mess(value: Any) -> Any:
        nonlocal depth
        tick()
        known.append(value)
        depth += 1
        try:
            for each in known:
                if chance.random() < 0.5 and depth < 3:
                    if callable(each) and not isinstance(each, type):
                        each(chance.choice([None, {"x": 1}, 5]))
                    else:
                        with contextlib.suppress(RecursionError):
                            disturb(each)
        finally:
            depth -= 1
        return chance.choice([None, 7, "x", {"x": 8}, [1, 2]])

    class Quiet:
        def __enter__(self) -> None: ...
        def __exit__(self, *args: object) -> bool:
            return chance.random() < 0.5 and not isinstance(args[1], StopError)

    class Harness:
        pass

    def register(function: Any) -> Any:
        known.append(function)
        return function

    import sys
    import types

    module = types.ModuleType("harness")
    module.__dict__.update(see=see, mess=mess, flag=flag, Dim=Dim, quiet=Quiet, register=register)
    before = sys.modules.get("harness")
    sys.modules["harness"] = module
    names: dict[str, Any] = {"__name__": "program", "print": lambda *_: None}
    try:
        try:
            exec(compile(text.replace("torch.export", "harness"), "program.py", "exec"), names)
        except StopError:
            return heard
        except Exception:  # its statements up to here were run all the same
            return heard
        functions = [each for key, each in names.items() if isinstance(each, types.FunctionType) and key[0] == "f"]
        for _ in range(4):
            for function in chance.sample(functions, len(functions)):
                if function.__name__ == "flag":
                    continue
                try:
                    function(chance.choice([None, {"x": 1}, [3], 5]))
                except StopError:
                    return heard
                except Exception:
                    continue
    finally:
        if before is None:
            del sys.modules["harness"]
        else:
            sys.modules["harness"] = before
    return heard


def copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except (RecursionError, TypeError):
        return value


def fits(value: Any, told: Any, depth: int = 0) -> bool:
    """Whether Python's value is among what was told."""
    if isinstance(told, Unknown) or depth > 30:
        return True
    if isinstance(told, Fork):
        return any(fits(value, each, depth + 1) for each in told.options)
    if isinstance(told, Constant):
        return type(told.value) is type(value) and bool(told.value == value)
    if isinstance(told, DimValue):
        return isinstance(value, Dim) and value.name == told.name
    if isinstance(told, Dict):
        return (
            type(value) is dict
            and list(value) == list(told.entries)
            and all(fits(value[key], each, depth + 1) for key, (_, each) in told.entries.items())
        )
    if isinstance(told, Sequence):
        kind = list if told.kind == "list" else range if told.class_name == "range" else tuple
        return (
            type(value) is kind
            and len(value) == len(told.items)
            and all(map(lambda a, b: fits(a, b, depth + 1), value, told.items))
        )
    if isinstance(told, Callable):
        return callable(value) or told.kind == "object"
    return True


def wrong(seed: int, runs: int = 20) -> str:
    """Returns what is wrong about a random program; nothing if all that Python saw was told."""
    text = Writer(seed).program()
    listener = listen(text)
    told: dict[int, list[Any]] = {}
    for args, _ in listener.heard:
        assert isinstance(args[0].value, Constant)
        told.setdefault(args[0].value.value, []).append(args[1].value)  # type: ignore[arg-type]
    for attempt in range(runs):
        for number, value in run(text, seed * 1000 + attempt):
            options = told.get(number, [])
            if not any(fits(value, each) for each in options):
                from .told import shown

                return f"{text}\nsee({number}): {value!r} is none of {[shown(each) for each in options]}"
    return ""
