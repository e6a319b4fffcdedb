"""The text frontend: ``.shapes`` files and fragments of the language → IR."""

from .fragments import Clauses, parse_clauses, parse_dims, parse_type, parse_where
from .read import read

__all__ = ["Clauses", "parse_clauses", "parse_dims", "parse_type", "parse_where", "read"]
