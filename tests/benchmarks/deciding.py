"""The decision procedure on the problems of solver.tsv, against z3 and against JAX's symbolic shapes.

Each side gets the same predicates and answers the same questions, its translation included. Beside
the time, what they got right counts: it is printed below the rows.
"""

from __future__ import annotations

import operator
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from shapedsl.ir import COMPARISONS, And, Apply, Compare, Const, Not, Predicate, Size, Var

from ..normalize.decide import oracles
from ..normalize.decide.problems import Problem, problems
from ..normalize.decide.test_solver import doubled, ours
from ..normalize.texts import predicate, size
from .measure import Row

Z3_EFFORT = 3_000_000  # units of `rlimit` for one question: what takes more counts as not answered
ROUNDS = 3
FAR = 2**40  # where z3 stops to look for an end


def rows() -> Iterator[Row]:
    """Yields the rows."""
    os.environ["SHAPEDSL_SMT"] = "0"  # ours alone
    yield from _against_z3()
    yield from _against_jax()


def _seconds(call: Callable[[], object]) -> float:
    """Returns how long a call takes that nothing before it has prepared."""
    for name, module in list(sys.modules.items()):
        if name.startswith("shapedsl.normalize"):
            for function in vars(module).values():
                if hasattr(function, "cache_clear"):
                    function.cache_clear()
    start = time.process_time()
    call()
    return time.process_time() - start


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# z3


def _against_z3() -> Iterator[Row]:
    ours_total: list[float] = []
    theirs_total: list[float] = []
    ratios: list[tuple[float, str]] = []
    right = {"shapedsl": 0, "z3": 0}
    both = [0.0, 0.0]
    for problem in problems():
        wanted = problem.answer.rstrip("?")
        right["shapedsl"] += ours(problem) == wanted
        answered = _z3_answer(problem) == wanted
        right["z3"] += answered
        pairs = [
            (_seconds(lambda p=problem: ours(p)), _seconds(lambda p=problem: _z3_answer(p)))  # type: ignore[misc]
            for _ in range(ROUNDS if answered else 1)
        ]
        mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
        ours_total.append(mine)
        theirs_total.append(other)
        ratios.append((mine / other, problem.name))
        if answered:
            both[0] += mine
            both[1] += other
    count = len(ratios)
    _note(f"right of {count}: shapedsl {right['shapedsl']}, z3 {right['z3']}")
    _note("slowest against z3: " + ", ".join(f"{name} {ratio:.2g}" for ratio, name in sorted(ratios)[:-6:-1]))
    _note(f"seconds in all: shapedsl {sum(ours_total):.2f}, z3 {sum(theirs_total):.2f}")
    ours_all, theirs_all = f"({sum(ours_total):.2f} s)", f"z3 ({sum(theirs_total):.2f} s)"
    yield Row(
        f"the {count} problems of `solver.tsv` {ours_all}",
        theirs_all,
        sum(ours_total) / sum(theirs_total),
        0.1,
        sum(ours_total),
    )
    yield Row(f"those {right['z3']} of them that z3 answers", "z3", both[0] / both[1], None, both[0])
    yield Row("the one of them that is slowest against z3", "z3", max(ratios)[0], 2.0)
    yield Row("the median one", "z3", statistics.median(ratio for ratio, _ in ratios), None)


def _z3_answer(problem: Problem) -> str:
    """Returns what z3 answers, in the words of the row."""
    given = problem.given

    def satisfiable(predicates: Sequence[Predicate]) -> bool:
        return oracles.z3_sizes(problem.variables, predicates, effort=Z3_EFFORT) is not None

    try:
        match problem.question.split(" ", 1):
            case ["sat"]:
                return "sat" if satisfiable(given) else "unsat"
            case ["core"]:
                core = _z3_core(problem)
                return problem.answer if _matches(problem, core) else "another core"
            case ["implies", question]:
                return "refuted" if satisfiable([*given, Not(predicate(question))]) else "proved"
            case ["range", text]:
                return f"{_z3_end(problem, text, '<')}..{_z3_end(problem, text, '>')}"
            case ["mod", text]:  # it is told the answer, and proves it
                modulus, residue = problem.answer.split(",")
                other = predicate(f"({text}) % {modulus} != {residue}")
                return problem.answer if not satisfiable([*given, other]) else "another"
            case _:
                variables, twice, same = doubled(problem)
                found = oracles.z3_sizes(variables, [*twice, Not(same)], effort=Z3_EFFORT)
                return "unique" if found is None else "not-unique"
    except oracles.GaveUp:
        return "unknown"


def _matches(problem: Problem, core: Sequence[int]) -> bool:
    if problem.answer.startswith("*"):
        return len(core) == int(problem.answer[1:])
    return sorted(problem.texts[at] for at in core) == sorted(problem.answer.split(";"))


def _z3_core(problem: Problem) -> list[int]:
    """Returns z3's own core, made minimal by deletion."""

    def core_of(chosen: Sequence[int]) -> list[int] | None:
        solver, formulas, _ = oracles.z3_formulas(
            problem.variables, [problem.given[at] for at in chosen], effort=Z3_EFFORT
        )
        names = {f"c{at}": at for at in chosen}
        for name, formula in zip(names, formulas, strict=True):
            solver.assert_and_track(formula, name)
        answer = str(solver.check())
        if answer == "unknown":
            raise oracles.GaveUp
        return None if answer == "sat" else sorted(names[str(each)] for each in solver.unsat_core())

    core = core_of(range(len(problem.given)))
    if core is None:
        return []
    for at in tuple(core):
        smaller = core_of([each for each in core if each != at]) if at in core else None
        core = core if smaller is None else smaller
    return core


def _z3_end(problem: Problem, text: str, beyond: str) -> str:
    """Returns the end of a range, found by halving."""
    solver, _ = oracles.z3_solver(problem.variables, problem.given, effort=Z3_EFFORT)
    z3: Any = import_module("z3")
    end = z3.Int("end of the range")
    extra, formulas, _ = oracles.z3_formulas(
        problem.variables, [Compare(COMPARISONS["=="], Var("end of the range"), size(text))], effort=Z3_EFFORT
    )
    solver.add(*extra.assertions(), *formulas)

    def value(limit: int | None) -> int | None:
        solver.push()
        if limit is not None:
            solver.add(end < limit if beyond == "<" else end > limit)
        answer = str(solver.check())
        found = solver.model().eval(end, model_completion=True).as_long() if answer == "sat" else None
        solver.pop()
        if answer == "unknown":
            raise oracles.GaveUp
        return found

    best = value(None)
    assert best is not None
    sign, step = (-1 if beyond == "<" else 1), 1
    while (further := value(best + sign * (step - 1))) is not None:  # ever farther
        best, step = further, step * 2
        if abs(best) > FAR:
            return "-inf" if beyond == "<" else "inf"
    low, high = best, best + sign * (step - 1)
    while low != high:
        middle = low + sign * ((abs(high - low)) // 2)
        further = value(middle)
        low, high = (low, middle) if further is None else (further, high)
    return str(low)


# JAX


def _against_jax() -> Iterator[Row]:
    try:
        from jax import export  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        _note("jax is not installed: not compared (pip install -e '.[bench]')")
        return
    asked = [each for each in map(_for_jax, problems()) if each is not None]
    right = {"shapedsl": 0, "jax": 0}
    mine = theirs = 0.0
    for problem, names, constraints, question in asked:

        def jax(names: Sequence[str] = names, constraints: Sequence[str] = constraints, text: str = question) -> str:
            try:
                scope = export.SymbolicScope(constraints)
                sizes = dict(zip(names, export.symbolic_shape(", ".join(names), scope=scope), strict=True))
                return "proved" if eval(text, _jax_functions() | sizes) is True else "unknown"
            except Exception:
                return "unknown"

        right["shapedsl"] += ours(problem) == "proved"
        right["jax"] += jax() == "proved"
        pairs = [(_seconds(lambda p=problem: ours(p)), _seconds(jax)) for _ in range(ROUNDS)]  # type: ignore[misc]
        mine += statistics.median(first for first, _ in pairs)
        theirs += statistics.median(second for _, second in pairs)
    _note(f"right of {len(asked)} that JAX can express: shapedsl {right['shapedsl']}, JAX {right['jax']}")
    yield Row(f"the {len(asked)} of them that JAX can express", "JAX's `SymbolicScope`", mine / theirs, None, mine)


def _jax_functions() -> dict[str, Any]:
    """Returns the functions that JAX's own texts use, for a question that Python evaluates."""
    core: Any = import_module("jax").core
    return {"max": core.max_dim, "min": core.min_dim, "floordiv": operator.floordiv, "mod": operator.mod}


def _for_jax(problem: Problem) -> tuple[Problem, list[str], list[str], str] | None:
    """Returns a problem in JAX's words, if it has any.

    JAX's sizes are at least 1, its constraints are single comparisons, and it proves but never refutes.
    So only what holds is asked, of sizes from 1 on; where a range begins at 0 both sides are told 1.
    """
    kind, _, question = problem.question.partition(" ")
    if (
        kind != "implies"
        or problem.answer != "proved"
        or any(low is None or low < 0 for low, _ in problem.ranges.values())
    ):
        return None
    texts = [_jax_constraint(each) for each in problem.given]
    asked = _jax_question(predicate(question))
    if asked is None or not all(texts):
        return None
    ones = tuple(
        (f"{n}>=1", Compare(COMPARISONS[">="], Var(n), Const(1))) for n, (low, _) in problem.ranges.items() if not low
    )
    positive = replace(problem, bounds=(*problem.bounds, *ones))
    return positive, list(problem.ranges), [text for text in texts if text], asked


def _jax_constraint(node: Predicate) -> str | None:
    """Returns ``node`` as JAX reads it: one of ``==``, ``>=``, ``<=``."""
    if not isinstance(node, Compare):
        return None
    left, right = _jax_size(node.left), _jax_size(node.right)
    if left is None or right is None:
        return None
    match node.op.name:
        case "==" | ">=" | "<=" as name:
            return f"{left} {name} {right}"
        case ">":
            return f"{left} >= {right} + 1"
        case "<":
            return f"{left} + 1 <= {right}"
        case _:
            return None


def _jax_question(node: Predicate) -> str | None:
    if isinstance(node, And):
        parts = [_jax_question(arg) for arg in node.args]
        return " and ".join(part for part in parts if part) if all(parts) else None
    return _jax_constraint(node)


def _jax_size(size: Size) -> str | None:
    match size:
        case Const(value=value):
            return str(value)
        case Var(name=name):
            return name
        case Apply(op=op, args=args):
            parts = [text for text in map(_jax_size, args) if text]
            if len(parts) < len(args):
                return None
            match op.name:
                case "+" | "-" | "*":
                    return f"({parts[0]} {op.name} {parts[1]})"
                case "//":
                    return f"floordiv({parts[0]}, {parts[1]})"
                case "%":
                    return f"mod({parts[0]}, {parts[1]})"
                case "min" | "max":
                    whole = parts[0]
                    for part in parts[1:]:
                        whole = f"{op.name}({whole}, {part})"
                    return whole
                case "neg":
                    return f"(0 - {parts[0]})"
                case _:
                    return None
        case _:
            return None
