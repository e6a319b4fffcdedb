"""Files whose edits are marked where they stand: ``«old|new»``."""

from __future__ import annotations

import re

import libcst as cst

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.legacy.source.rewriting.dead import sweep
from shapedsl.frontends.legacy.source.rewriting.imports import known, settle
from shapedsl.frontends.legacy.source.rewriting.plan import Plan
from shapedsl.frontends.stubs.tree import parse

_EDIT = re.compile(r"«(.*?)\|(.*?)»", re.DOTALL)
_SPEC = re.compile(r"\b(?:ShapesSpec|ShapeVar|TensorSpec)\b")
_CUT = re.compile(r"⟦(.*?)⟧", re.DOTALL)


def planned(marked: str, name: str = "net.py") -> Plan:
    """Returns the plan of a marked file: its edits, and the names that these need."""
    text = _CUT.sub(r"«\1|⟧»", marked)
    plain, edits, at = "", [], 0
    for found in _EDIT.finditer(text):
        plain += text[at : found.start()]
        edits.append((len(plain), len(plain) + len(found[1]), found[2]))
        plain += found[1]
        at = found.end()
    plain += text[at:]
    report = Report()
    tree = parse(Source(name, plain), report)
    assert tree is not None, list(report)
    plan = Plan(tree, known(tree))
    for start, end, new in edits:
        if new == "⟧":
            plan.delete(_node(plan, start, end))
        else:
            plan.edit(start, end, _SPEC.sub(lambda found: plan.need(found[0]), new))
    return plan


def _node(plan: Plan, start: int, end: int) -> cst.CSTNode:
    """Returns the statement, argument or imported name at a stretch of the text."""
    found: list[cst.CSTNode] = []

    class Visitor(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            kinds = (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Arg, cst.ImportAlias)
            if isinstance(node, kinds) and plan.tree.extent(node) == (start, end):
                found.append(node)
            return True

    plan.tree.module.visit(Visitor())
    return found[0]


def applied(marked: str, name: str = "net.py") -> str:
    """Returns what a marked file becomes, its dead code and its imports included; it parses."""
    plan = planned(marked, name)
    sweep(plan)
    settle(plan)
    text = plan.apply()
    cst.parse_module(text)
    return text
