"""The interpreter's parts: the state, statements, expressions, what is known of Python's and torch's own functions."""
