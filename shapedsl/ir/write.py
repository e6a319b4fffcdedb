"""IR → canonical ``.shapes`` text. ``parse(write(ir)) == ir`` is a law."""

from .write_defs import write_module, write_signature
from .write_sizes import write_dim, write_predicate
from .write_types import write_type

__all__ = ["write_dim", "write_module", "write_predicate", "write_signature", "write_type"]
