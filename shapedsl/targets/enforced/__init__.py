"""What artifacts of torch refuse at run time, what they rely on, and what they return; a module a kind of artifact."""

from __future__ import annotations

from .model import Data, Enforced, Output, place_variable
from .programs import enforced_by_program
from .stated import Statement, stated, statements

__all__ = [
    "Data",
    "Enforced",
    "Output",
    "Statement",
    "enforced_by_program",
    "place_variable",
    "stated",
    "statements",
]
