"""Which spelling needs which Python: docs/pythons.md, row by row."""
